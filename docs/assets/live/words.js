// Pick a word, and how it looks back: the shares that it takes, and what it collects.
hwLive.start("words", (figure, stage, say) => {
  const { make, names, read, round, product, weigh } = hwLive
  const words = names(figure, "vectors")
  const [X, Q, K] = [[0, 3], [3, 5], [5, 7]].map((part) =>
    read(figure, "vectors").map((row) => row.slice(...part)),
  )
  const past = (t, s) => s <= t
  const ways = [
    { name: "by similarity", weights: weigh(X, X, past) },
    { name: "by query and key", weights: weigh(Q, K, past) },
  ]
  const [WIDTH, ROW] = [100, 30] // stretched over the rows

  const draw = (tag, properties, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
    for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value)
    element.append(...children)
    return element
  }
  const arcs = words.map(() => draw("path", { class: "hw-words__arc" }))
  const viewBox = `0 0 ${WIDTH} ${ROW * words.length}`
  const sky = draw("svg", { viewBox, preserveAspectRatio: "none", "aria-hidden": true }, ...arcs)
  const bars = words.map(() => hwLive.bar())
  const shares = make("div", { className: "hw-words__shares" },
    ...bars.map(({ element }) => element))

  const middle = (s) => (s + 0.5) * ROW
  function arc(t, s) {
    const [from, to] = [middle(s), middle(t)]
    if (s === t) return `M${WIDTH} ${to - 5}C60 ${to - 18} 60 ${to + 18} ${WIDTH} ${to + 5}`
    const left = 70 - 90 * (Math.abs(t - s) / words.length) ** 0.6
    return `M${WIDTH} ${from}C${left} ${from} ${left} ${to} ${WIDTH} ${to}`
  }

  let [reader, way] = [words.indexOf("he"), 1]
  function look() {
    const weights = ways[way].weights[reader]
    const largest = Math.max(...weights)
    weights.forEach((weight, s) => {
      arcs[s].setAttribute("d", arc(reader, s))
      arcs[s].style.setProperty("--share", weight)
      bars[s].set(weight, weight, 2)
      bars[s].element.classList.toggle("hw-words__unseen", s > reader)
    })
    const first = words.filter((_, s) => weights[s] > largest - 1e-9)
    const from = first.map((word) => (word === words[reader] ? "itself" : `“${word}”`)).join(", ")
    const all = reader > 0 && first.length === reader + 1
    const most = all ? "the same from all that it sees" : `most from ${from}`
    const [noun, pronoun, living] = product([weights], X)[0].map((number) => round(number, 2))
    say(`“${words[reader]}” takes ${most}.\n` +
      `It collects noun ${noun}, pronoun ${pronoun}, living ${living}.`)
  }

  const pick = hwLive.choose("Which word looks?", words, reader, (t) => {
    reader = t
    look()
  })
  const compare = hwLive.choose("How does it compare?", ways.map(({ name }) => name), way, (at) => {
    way = at
    look()
  })
  stage.append(make("div", { className: "hw-words" }, sky, pick, shares), compare)
  look()
})
