// Change a token, and see which rows move: with the causal mask, none before it.
hwLive.start("leak", (figure, stage, say) => {
  const { names, read, product, weigh, choose, slide, press, bar, group } = hwLive
  const words = names(figure, "tokens")
  const tokens = read(figure, "tokens")
  const matrices = [0, 2, 4].map((at) =>
    read(figure, "matrices").map((row) => row.slice(at, at + 2)),
  )
  let token = words.length - 1
  let causal = false
  let changed = [9, 9, 9]

  function attend(x) {
    const [Q, K, V] = matrices.map((matrix) => product(x, matrix))
    const weights = weigh(Q, K, (t, s) => !causal || s <= t)
    return { weights, context: product(weights, V) }
  }

  const { grid, cells, extra, head } = hwLive.map(words, ["moved by"])
  const bars = extra.map(([cell]) => {
    const made = bar()
    cell.append(made.element)
    return made
  })
  grid.classList.add("hw-live__map--bars")

  function draw() {
    const before = attend(tokens)
    const after = attend(tokens.map((row, t) => (t === token ? changed : row)))
    const moved = after.context.map((row, t) =>
      Math.max(...row.map((number, d) => Math.abs(number - before.context[t][d]))),
    )
    const farthest = Math.max(...moved, 0.5)
    words.forEach((_, t) => {
      const leaks = t < token && moved[t] > 0
      bars[t].set(moved[t], moved[t] / farthest)
      grid.tBodies[0].rows[t].classList.toggle("hw-live__leak", leaks)
      grid.tBodies[0].rows[t].classList.toggle("hw-live__own", t === token)
      head[t + 1].classList.toggle("hw-live__own", t === token)
      cells[t].forEach((cell, s) => {
        hwLive.fill(cell, causal && s > t ? null : after.weights[t][s])
        cell.classList.toggle("hw-live__edited", s === token)
      })
    })
    const count = moved.slice(0, token).filter((far) => far > 0).length
    say(
      token === 0
        ? `No row stands before “${words[0]}”.`
        : count
          ? `A leak: ${count} of ${token} rows before “${words[token]}” moved.`
          : `No row before “${words[token]}” moved at all.`,
    )
  }

  const sliders = ["first", "second", "third"].map((name, i) =>
    slide(`${name} number`, { min: -1, max: 9, step: 0.01, value: 9 }, (x) => x.toFixed(2),
      (value) => {
        changed[i] = value
        draw()
      }),
  )
  function put(numbers) {
    changed = [...numbers]
    sliders.forEach((slider, i) => slider.set(numbers[i]))
    draw()
  }

  stage.append(
    choose("token", words, token, (at) => {
      token = at
      put(tokens[at])
    }),
    group(...sliders.map((slider) => slider.element)),
    group(press("Make it (9, 9, 9)", () => put([9, 9, 9])),
      press("Put it back", () => put(tokens[token]))),
    choose("who may look where", ["no mask", "causal mask"], 0, (at) => {
      causal = at === 1
      draw()
    }),
    grid)
  draw()
})
