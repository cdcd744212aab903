// Turn a query and a key by their positions: the score keeps while the distance does.
hwLive.start("clock", (figure, stage, say) => {
  const { make, read, round, slide, press, group, bar } = hwLive
  const [query, key] = read(figure, "vectors")
  const speeds = read(figure, "speeds").map(([speed]) => speed)
  const LAST = 12
  const at = [7, 5] // of the query, of the key

  const draw = (tag, properties, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
    for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value)
    element.append(...children)
    return element
  }
  const hand = (kind) => draw("line", { x1: 0, y1: 0, class: `hw-clock__${kind}` })
  const dials = speeds.map((speed, i) => {
    const hands = [hand("query"), hand("key")]
    const face = draw("circle", { r: 1, class: "hw-clock__face" })
    const svg = draw("svg", { viewBox: "-1.1 -1.1 2.2 2.2", "aria-hidden": true }, face, ...hands)
    const words = `${i ? "slow" : "fast"} pair: ${round(speed, 2)} rad a step`
    return { hands, element: make("div", {}, svg, make("small", { textContent: words })) }
  })
  const named = (name) => {
    const made = bar()
    return { ...made, row: make("div", { className: "hw-live__named" },
      make("small", { textContent: name }), made.element) }
  }
  const bars = ["fast pair", "slow pair", "score"].map(named)

  /** A pair of numbers, turned against the clock. */
  function turn([a, b], angle) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    return [a * cos - b * sin, a * sin + b * cos]
  }

  function look() {
    let score = 0
    speeds.forEach((speed, i) => {
      const pairs = [query, key].map((vector, which) =>
        turn(vector.slice(2 * i, 2 * i + 2), at[which] * speed))
      pairs.forEach(([a, b], which) => {
        dials[i].hands[which].setAttribute("x2", a)
        dials[i].hands[which].setAttribute("y2", -b)
      })
      const part = pairs[0][0] * pairs[1][0] + pairs[0][1] * pairs[1][1]
      bars[i].set(part, Math.max(part, 0) / 2)
      score += part
    })
    bars[2].set(score, Math.max(score, 0) / 2)
    sliders.forEach((slider, which) => slider.set(at[which]))
    say(`Query at ${at[0]}, key at ${at[1]}: ${at[0] - at[1]} apart, score ${round(score)}.`)
  }
  function move(by) {
    const both = at.map((place) => place + by)
    if (both.every((place) => 0 <= place && place <= LAST)) both.forEach((p, i) => (at[i] = p))
    look()
  }

  const sliders = ["query’s position", "key’s position"].map((name, which) =>
    slide(name, { min: 0, max: LAST, step: 1, value: at[which] }, (x) => `${x}`, (value) => {
      at[which] = value
      look()
    }))
  stage.append(
    make("div", { className: "hw-clock" }, ...dials.map(({ element }) => element)),
    group(...sliders.map(({ element }) => element)),
    group(press("Move both back", () => move(-1)), press("Move both on", () => move(1))),
    ...bars.map(({ row }) => row))
  look()
})
