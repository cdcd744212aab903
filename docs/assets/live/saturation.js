// Slide the width and the scale: a softmax saturates, and the division prevents it.
hwLive.start("saturation", (figure, stage, say) => {
  const { make, names, read, round, show, softmax, slide, bar } = hwLive
  const widths = names(figure, "scores").map(Number)
  const scores = read(figure, "scores")
  let width = widths.length - 1
  let scale = 1

  const keys = scores[0].map((_, s) => {
    const { element, set } = bar()
    element.append(make("small", { textContent: "ABCDEF"[s] }))
    return { element, set }
  })
  const chart = make("div", { className: "hw-live__columns" }, ...keys.map((key) => key.element))
  const facts = ["largest weight", "its slope"].map((name) => ({ name, data: make("data", {}) }))
  const list = make("dl", { className: "hw-live__facts" }, ...facts.map(({ name, data }) =>
    make("div", {}, make("dt", { textContent: name }), make("dd", {}, data))))

  const root = () => 1 / Math.sqrt(widths[width])
  const divide = make("input", { type: "checkbox" })

  function draw() {
    const weights = softmax(scores[width].map((score) => score * scale))
    keys.forEach((key, s) => key.set(weights[s], weights[s], 2))
    const largest = Math.max(...weights)
    const slope = largest * (1 - largest)
    ;[largest, slope].forEach((value, i) => show(facts[i].data, value))
    say(
      largest > 0.95
        ? `Saturated: one key takes ${round(largest, 2)}, and its slope is ${round(slope, 2)}.`
        : `The largest of the six weights is ${round(largest, 2)}, and its slope ${round(slope, 2)}.`,
    )
  }

  const widthSlider = slide(
    "width d_k",
    { min: 0, max: widths.length - 1, step: 1, value: width },
    (at) => String(widths[at]),
    (at) => {
      width = at
      if (divide.checked) rescale(root())
      draw()
    },
  )
  // Powers of two, so that each 1/√d_k is one of its places.
  const scaleSlider = slide(
    "scale",
    { min: -7, max: 1, step: 0.25, value: 0 },
    (power) => round(2 ** power),
    (power) => {
      divide.checked = false
      scale = 2 ** power
      draw()
    },
  )
  function rescale(value) {
    scale = value
    scaleSlider.set(Math.log2(value))
  }
  divide.addEventListener("change", () => {
    rescale(divide.checked ? root() : 1)
    draw()
  })

  stage.append(
    hwLive.group(widthSlider.element, scaleSlider.element,
      make("label", { className: "hw-live__check" }, divide, "keep the scale at 1/√d_k")),
    chart, list)
  draw()
})
