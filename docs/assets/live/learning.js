// Go through a training: the stripes of two heads appear, and the loss falls.
hwLive.start("learning", (figure, stage, say) => {
  const { make, read, names, round, slide, press, group, bar, map, fill } = hwLive
  const steps = names(figure, "steps")
  const facts = read(figure, "steps") // of each step: loss, two scores, a share
  const [[floor]] = read(figure, "floor")
  const heading = (name) => figure.querySelector(`table[data-name="${name}"] thead th:last-child`)
  const letters = heading("first").textContent.split(" ")
  const next = heading("steps").textContent

  /** The weights of a layer, a triangle for each step. */
  const triangles = (name) =>
    Array.from(figure.querySelectorAll(`table[data-name="${name}"] tbody td`), (cell) =>
      cell.textContent.split("\n").map((line) => line.trim().split(/ +/).map((part) => part / 100)))

  let at = 0

  // ---- Its parts ----

  // What each head is for: where its stripe will be.
  const layers = [
    ["first", "First layer: one back", (t, s) => s === t - 1],
    ["second", "Second layer: what followed", (t, s) => s > 0 && s <= t && letters[s - 1] === letters[t]],
  ].map(([name, title, aimed]) => {
    const { grid, cells } = map(letters, [])
    grid.classList.add("hw-learning__map")
    grid.setAttribute("aria-label", title)
    cells.forEach((row, t) => row.forEach((cell, s) => {
      cell.classList.toggle("hw-live__edited", aimed(t, s))
      if (s > t) fill(cell, null)
    }))
    const element = make("div", { className: "hw-live__part" }, make("p", { textContent: title }), grid)
    return { cells, weights: triangles(name), element }
  })
  const largest = Math.max(...facts.map(([loss]) => loss))
  const losses = steps.map((step) => {
    const made = bar()
    made.element.append(make("small", { textContent: step }))
    return made
  })
  const chart = make("div", { className: "hw-live__columns hw-learning__losses" },
    ...losses.map(({ element }) => element))

  function draw() {
    for (const { cells, weights } of layers) {
      weights[at].forEach((row, t) => row.forEach((weight, s) => {
        fill(cells[t][s], weight)
        // It was rounded; a zero that is exact is in the future.
        if (!weight) cells[t][s].firstChild.textContent = "0.00"
      }))
    }
    losses.forEach(({ element, set }, n) => {
      const loss = n > at ? 0 : facts[n][0]
      set(loss, loss / largest, 2)
      element.classList.toggle("hw-tiles__unread", n > at)
      element.classList.toggle("hw-tiles__now", n === at)
    })
    const [loss, back, follows, right] = facts[at].map((fact) => round(fact, 2))
    say(
      `After ${steps[at]} step${at ? "s" : ""} the loss is ${loss}, ` +
        `${facts[at][0] < floor ? "below" : "above"} the floor of guessing, ${round(floor, 2)}.\n` +
        `In all texts, one back gets ${back}, and what followed ${follows}.\n` +
        `After “${letters.join("")}” the model gives ${next} a share of ${right}.`,
    )
  }

  const last = steps.length - 1
  const slider = slide("steps of training", { min: 0, max: last, step: 1, value: at },
    (place) => steps[place],
    (place) => {
      at = place
      draw()
    })
  function go(to) {
    at = Math.min(Math.max(to, 0), last)
    slider.set(at)
    draw()
  }

  stage.append(
    group(press("Back", () => go(at - 1)), slider.element, press("Train on", () => go(at + 1))),
    make("div", { className: "hw-live__parts" }, ...layers.map(({ element }) => element)),
    make("p", { className: "hw-learning__title", textContent: "Loss so far, by steps of training" }),
    chart)
  draw()
})
