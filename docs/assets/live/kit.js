// What the live figures share: the numbers of their tables, arithmetic, and controls.
window.hwLive = (() => {
  let controls = 0

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties)
    element.append(...children)
    return element
  }

  // ---- Numbers ----

  const table = (figure, name) =>
    figure.querySelector(`table[data-name="${name}"]`).tBodies[0]

  /** The numbers of a table; where it shows only some digits, all that it holds. */
  const read = (figure, name) =>
    Array.from(table(figure, name).rows, (row) =>
      Array.from(row.querySelectorAll("td"), (cell) =>
        Number(cell.querySelector("data")?.value ?? cell.textContent),
      ),
    )

  const names = (figure, name) =>
    Array.from(table(figure, name).rows, (row) => row.cells[0].textContent)

  /** A number as the book prints it. An exact zero is not one that was rounded. */
  const round = (value, digits = 4) => (value === 0 ? "0" : value.toFixed(digits))

  /** Show a number, and keep all its digits. */
  function show(data, value, digits) {
    data.value = value
    data.textContent = round(value, digits)
  }

  // ---- Arithmetic ----

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
  const dot = (a, b) => sum(a.map((number, i) => number * b[i]))
  const turned = (matrix) => matrix[0].map((_, i) => matrix.map((row) => row[i]))
  const product = (a, b) => a.map((row) => turned(b).map((column) => dot(row, column)))

  function softmax(scores) {
    const highest = Math.max(...scores)
    const shares = scores.map((score) => Math.exp(score - highest))
    const total = sum(shares)
    return shares.map((share) => share / total)
  }

  /** Attention weights; allowed(t, s) says whether query t may look at key s. */
  const weigh = (Q, K, allowed = () => true) =>
    product(Q, turned(K)).map((scores, t) =>
      softmax(
        scores.map((score, s) =>
          allowed(t, s) ? score / Math.sqrt(Q[0].length) : -Infinity,
        ),
      ),
    )

  // ---- Controls ----

  /** One of several, by mouse or arrow keys. */
  function choose(legend, options, picked, tell) {
    const name = `hw-live-${controls++}`
    const labels = options.map((option, value) => {
      const radio = make("input", { type: "radio", name, value, checked: value === picked })
      radio.addEventListener("change", () => tell(value))
      return make("label", {}, radio, make("span", { textContent: option }))
    })
    return make(
      "fieldset",
      { className: "hw-live__choice" },
      make("legend", { textContent: legend }),
      ...labels,
    )
  }

  /** A slider; write says how its position reads. set moves it. */
  function slide(label, range, write, tell) {
    const id = `hw-live-${controls++}`
    const input = make("input", { type: "range", id, ...range })
    // The slider says it itself; an <output> would say it twice.
    const output = make("span", { ariaHidden: "true" })
    const update = () => {
      output.textContent = write(Number(input.value))
      input.setAttribute("aria-valuetext", output.textContent)
    }
    const set = (value) => {
      input.value = value
      update()
    }
    input.addEventListener("input", () => {
      update()
      tell(Number(input.value))
    })
    set(range.value)
    const name = make("label", { htmlFor: id, textContent: label })
    return { set, element: make("div", { className: "hw-live__slide" }, name, output, input) }
  }

  function press(label, tell) {
    const button = make("button", { type: "button", textContent: label })
    button.addEventListener("click", tell)
    return button
  }

  const group = (...children) => make("div", { className: "hw-live__controls" }, ...children)

  /** A bar with its number behind it. */
  function bar() {
    const data = make("data", {})
    const element = make("div", { className: "hw-live__bar" }, make("span", {}), data)
    const set = (value, share = value, digits) => {
      element.style.setProperty("--share", share)
      show(data, value, digits)
    }
    return { element, set }
  }

  /** A square of weights with room behind each row. */
  function map(words, more) {
    const cells = words.map(() => words.map(() => make("td", {}, make("data", {}))))
    const extra = words.map(() => more.map(() => make("td", {})))
    const head = [...words, ...more].map((textContent, at) =>
      make("th", { scope: "col", className: at < words.length ? "" : "hw-live__more" },
        make("span", { textContent })),
    )
    head.unshift(make("td", {}))
    const rows = words.map((textContent, t) =>
      make("tr", {}, make("th", { scope: "row", textContent }), ...cells[t], ...extra[t]),
    )
    const grid = make("table", { className: "hw-live__map" },
      make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))
    return { grid, cells, extra, head }
  }

  /** Set a cell of a map; without a value it is hidden. */
  function fill(cell, value, share = value) {
    cell.classList.toggle("hw-live__hidden", value === null)
    cell.style.setProperty("--share", value === null ? 0 : share)
    if (value === null) cell.firstChild.textContent = cell.firstChild.value = ""
    else show(cell.firstChild, value, 2)
  }

  // ---- A figure ----

  /** Let build fill a stage above the tables, which are folded away. */
  function start(name, build) {
    for (const figure of document.querySelectorAll(`[data-live="${name}"]`)) {
      const result = make("p", { className: "hw-live__result" })
      result.setAttribute("role", "status")
      const stage = make("div", { className: "hw-live__stage" })
      build(figure, stage, (words) => (result.textContent = words))
      const tables = make(
        "details",
        { className: "hw-live__tables" },
        make("summary", { textContent: "The same numbers in tables" }),
        ...figure.querySelectorAll(".hw-live__numbers"),
      )
      figure.prepend(stage, result)
      figure.append(tables)
      figure.classList.add("hw-live--on")
    }
  }

  return {
    ...{ make, read, names, round, show, sum, dot, product, softmax, weigh },
    ...{ choose, slide, press, group, bar, map, fill, start },
  }
})()
