// Draw again and again: the sum of a row jumps about, and its mean settles at one.
hwLive.start("dropout", (figure, stage, say) => {
  const { make, names, read, round, sum, slide, press, bar, group } = hwLive
  const words = names(figure, "weights")
  const weights = read(figure, "weights")
  const { grid, cells, extra } = hwLive.map(words, ["sum", "mean"])
  grid.classList.add("hw-live__map--sums")
  const bars = extra.map((pair) =>
    pair.map((cell) => {
      const made = bar()
      cell.append(made.element)
      return made
    }),
  )
  let p = 0.5
  let draws = 0
  let totals = words.map(() => 0)

  function draw(times) {
    let row = []
    for (let i = 0; i < times; i++) {
      row = weights.map((line) =>
        line.map((weight) => (weight && Math.random() >= p ? weight / (1 - p) : 0)),
      )
      totals = totals.map((total, t) => total + sum(row[t]))
    }
    draws += times
    row.forEach((line, t) => {
      line.forEach((weight, s) => {
        hwLive.fill(cells[t][s], s > t ? null : weight, Math.min(weight, 1))
        cells[t][s].classList.toggle("hw-live__dropped", s <= t && weight === 0)
      })
      // Twice the line at one is the end of the bar.
      for (const [i, value] of [sum(line), totals[t] / draws].entries()) {
        bars[t][i].set(value, Math.min(value, 2) / 2, 2)
      }
    })
    const means = totals.map((total) => total / draws)
    say(
      draws === 1
        ? "One draw: the mean is still the sum."
        : `${draws} draws: the means lie between ${round(Math.min(...means), 2)} ` +
            `and ${round(Math.max(...means), 2)}.`,
    )
  }
  function begin() {
    draws = 0
    totals = words.map(() => 0)
    draw(1)
  }

  const slider = slide("p", { min: 0, max: 0.9, step: 0.1, value: p }, (x) => x.toFixed(1),
    (value) => {
      p = value
      begin()
    })
  stage.append(
    group(slider.element, press("Draw again", () => draw(1)),
      press("Draw 100 times", () => draw(100)), press("Begin again", begin)),
    grid)
  begin()
})
