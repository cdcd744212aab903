// Pick a query: its scores, its weights, and the context vector that it collects.
hwLive.start("query", (figure, stage, say) => {
  const { make, names, read, round, show, sum, product, softmax } = hwLive
  const words = names(figure, "vectors")
  const [Q, K, V] = [0, 2, 4].map((at) =>
    read(figure, "vectors").map((row) => row.slice(at, at + 2)),
  )
  const pair = () => [make("data", {}), make("data", {})]
  const cell = (...inside) => make("td", {}, ...inside)

  const rows = words.map((word, s) => {
    const row = { score: make("data", {}), weight: hwLive.bar(), value: pair() }
    row.value.forEach((data, i) => show(data, V[s][i]))
    row.element = make("tr", {},
      make("th", { scope: "row", textContent: word }),
      cell(row.score), cell(row.weight.element), ...row.value.map((data) => cell(data)))
    return row
  })
  const total = make("data", {})
  const context = pair()
  const head = [["key", 1], ["score", 1], ["weight", 1], ["value", 2]]
  const grid = make("table", { className: "hw-live__steps" },
    make("thead", {}, make("tr", {}, ...head.map(([textContent, colSpan]) =>
      make("th", { scope: "col", textContent, colSpan })))),
    make("tbody", {}, ...rows.map((row) => row.element)),
    make("tfoot", {}, make("tr", {},
      make("th", { scope: "row", textContent: "sum" }), cell(), cell(total),
      ...context.map((data) => cell(data)))))

  function ask(t) {
    const [scores] = product([Q[t]], K[0].map((_, d) => K.map((key) => key[d])))
    const weights = softmax(scores.map((score) => score / Math.sqrt(K[0].length)))
    const collected = product([weights], V)[0]
    const largest = Math.max(...weights)
    rows.forEach(({ score, weight, element }, s) => {
      show(score, scores[s])
      weight.set(weights[s], weights[s] / largest)
      element.classList.toggle("hw-live__own", s === t)
    })
    show(total, sum(weights))
    context.forEach((data, i) => show(data, collected[i]))
    const first = weights.indexOf(largest)
    say(
      `“${words[t]}” gives most to “${words[first]}”, ${round(largest)}. ` +
        `Its context is (${collected.map((number) => round(number)).join(", ")}).`,
    )
  }

  stage.append(hwLive.choose("query", words, 1, ask), grid)
  ask(1)
})
