// Pick a word, and how picky it is: the shares that it takes from the words before it.
hwLive.start("words", (figure, stage, say) => {
  const { make, names, read, round, dot, product, softmax } = hwLive
  const words = names(figure, "tokens")
  const X = read(figure, "tokens")
  const [WIDTH, HEIGHT] = [600, 120] // stretched over the words

  const draw = (tag, properties, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
    for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value)
    element.append(...children)
    return element
  }
  const arcs = words.map(() => draw("path", { class: "hw-words__arc" }))
  const sky = draw(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": true },
    ...arcs,
  )
  const bars = words.map(() => hwLive.bar())
  const shares = make("div", { className: "hw-words__shares" },
    ...bars.map(({ element }) => element))

  const middle = (s) => ((s + 0.5) * WIDTH) / words.length
  function arc(t, s) {
    const [from, to] = [middle(s), middle(t)]
    if (s === t) return `M${to - 12} ${HEIGHT}C${to - 40} 60 ${to + 40} 60 ${to + 12} ${HEIGHT}`
    const top = HEIGHT - 45 - 95 * (Math.abs(t - s) / words.length) ** 0.6
    return `M${from} ${HEIGHT}C${from} ${top} ${to} ${top} ${to} ${HEIGHT}`
  }

  let [reader, factor] = [5, 1]
  function look() {
    const scores = X.map((x, s) => (s > reader ? -Infinity : factor * dot(X[reader], x)))
    const weights = softmax(scores.map((score) => score / Math.sqrt(X[0].length)))
    const largest = Math.max(...weights)
    weights.forEach((weight, s) => {
      arcs[s].setAttribute("d", arc(reader, s))
      arcs[s].style.setProperty("--share", weight)
      bars[s].set(weight)
      bars[s].element.classList.toggle("hw-words__none", s > reader)
    })
    const first = weights.indexOf(largest)
    const from = first === reader ? "itself" : `“${words[first]}”`
    const most = reader ? `takes most from ${from}` : "has no word before it"
    const collected = product([weights], X)[0].map((number) => round(number))
    say(`“${words[reader]}” ${most}.\nIt becomes (${collected.join(", ")}).`)
  }

  const pick = hwLive.choose("Which word looks?", words, reader, (t) => {
    reader = t
    look()
  })
  const range = { min: 0, max: 6, step: 0.25, value: 0 }
  const write = (power) => `× ${round(2 ** power, power % 1 ? 1 : 0)}`
  const picky = hwLive.slide("How picky is the word?", range, write, (power) => {
    factor = 2 ** power
    look()
  })
  stage.append(make("div", { className: "hw-words" }, sky, pick, shares), picky.element)
  look()
})
