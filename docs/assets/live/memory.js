// Write to two memories: one takes out what a key held before it writes, one adds.
hwLive.start("memory", (figure, stage, say) => {
  const { make, read, names, show, dot, choose, slide, press, group, bar } = hwLive
  const called = names(figure, "keys")
  const keys = read(figure, "keys")
  // The first two of the recorded ones are there, and the third is ready to be written.
  const writes = read(figure, "writes").map(([a, b, value, beta]) => {
    const key = keys.findIndex(([c, d]) => a === c && b === d)
    return { key, value, beta }
  })
  const [next] = writes.splice(2)

  /** What all writes make of an empty memory: a number for each number of a key. */
  const written = (list, corrects) =>
    list.reduce((memory, { key, value, beta }) => {
      const held = corrects ? dot(keys[key], memory) : 0
      return memory.map((row, d) => row + keys[key][d] * beta * (value - held))
    }, keys[0].map(() => 0))

  /** Without the last digits of a sum that would be a whole number. */
  const clean = (x) => (Math.abs(x - Math.round(x)) < 1e-9 ? Math.round(x) + 0 : x)
  const digits = (x) => (Number.isInteger(x) ? 0 : 2)
  const told = (x) => `${clean(Number(x.toFixed(2)))}`.replace("-", "−")

  // ---- Its parts ----

  const row = (name, ...cells) =>
    make("tr", {}, make("th", { scope: "row", textContent: name }), ...cells)
  const cell = (...inside) => make("td", {}, ...inside)
  const numbers = () => [0, 1].map(() => make("data", {}))
  const state = keys[0].map(numbers) // a row of the memory, by the delta rule and the sum
  const reads = keys.map(() => [bar(), bar()])
  const last = keys.map(() => make("data", {}))
  const rows = keys.map((_, k) =>
    row(`${called[k]} reads`, cell(last[k]), ...reads[k].map(({ element }) => cell(element))))
  const heads = ["written last", "delta rule", "sum"].map((textContent) =>
    make("th", { scope: "col", textContent }))
  const table = make("table", { className: "hw-memory" },
    make("thead", {}, make("tr", {}, make("td", {}), ...heads)),
    make("tbody", {}, ...state.map((pair, d) =>
      row(`memory, row ${d + 1}`, cell(), ...pair.map((x) => cell(x))))),
    make("tbody", {}, ...rows))

  function draw() {
    const both = [true, false].map((corrects) => written(writes, corrects))
    const found = keys.map((key) => both.map((memory) => clean(dot(key, memory))))
    const largest = Math.max(9, ...found.flat().map(Math.abs))
    both.forEach((memory, way) =>
      memory.map(clean).forEach((x, d) => show(state[d][way], x, digits(x))))
    found.forEach((pair, k) => {
      pair.forEach((x, way) => {
        reads[k][way].set(x, Math.abs(x) / largest, digits(x))
        reads[k][way].element.classList.toggle("hw-memory__below", x < 0)
      })
      const newest = writes.filter(({ key }) => key === k).at(-1)
      if (newest) show(last[k], newest.value, 0)
      else last[k].value = last[k].textContent = ""
      rows[k].classList.toggle("hw-live__own", writes.at(-1)?.key === k)
    })
    if (!writes.length) return say("Nothing is written. Each key reads 0.")
    const { key, value, beta } = writes.at(-1)
    const held = dot(keys[key], written(writes.slice(0, -1), true))
    const [now, sum] = found[key].map(told)
    const missing = told(value - held)
    say(
      `Write ${writes.length}: ${value} under ${called[key]}, β = ${beta}.\n` +
        `Delta rule: it held ${told(held)}, so ${missing} is missing` +
        ` and ${beta} · ${missing} is added. It reads ${now}.\n` +
        `Sum: ${beta} · ${value} is added. It reads ${sum}.`,
    )
  }

  const range = (max, step, value) => ({ min: 0, max, step, value })
  stage.append(
    choose("key", called.map((name, k) => `${name} (${keys[k].join(", ")})`), next.key,
      (picked) => (next.key = picked)),
    group(
      slide("value", range(9, 1, next.value), String, (value) => (next.value = value)).element,
      slide("β, the share written", range(1, 0.25, next.beta), String,
        (beta) => (next.beta = beta)).element),
    group(
      press("Write", () => {
        writes.push({ ...next })
        draw()
      }),
      press("Undo", () => {
        writes.pop()
        draw()
      }),
      press("Empty both", () => {
        writes.length = 0
        draw()
      })),
    table)
  draw()
})
