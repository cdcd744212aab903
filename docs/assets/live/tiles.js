// A softmax in tiles: a largest score, a mass and a mixture go from tile to tile.
hwLive.start("tiles", (figure, stage, say) => {
  const { make, read, names, round, show, sum, choose, press, group, bar } = hwLive
  const keys = names(figure, "keys")
  const scores = read(figure, "keys").map(([score]) => score)
  const values = read(figure, "keys").map(([, ...value]) => value)
  const [[, ...whole]] = read(figure, "whole")
  const S = scores.length
  const sizes = [1, 2, 3, S]
  let [at, step] = [1, 0] // which size, and how many tiles are read

  const start = { largest: -Infinity, sum: 0, gathered: whole.map(() => 0) }

  /** What a tile makes of the state before it: both of its parts, and their sum. */
  function read_tile(before, first, last) {
    const largest = Math.max(before.largest, ...scores.slice(first, last))
    const factor = Math.exp(before.largest - largest)
    const weights = scores.slice(first, last).map((score) => Math.exp(score - largest))
    const tile = {
      sum: sum(weights),
      gathered: whole.map((_, v) => sum(weights.map((w, s) => w * values[first + s][v]))),
    }
    const kept = { sum: factor * before.sum, gathered: before.gathered.map((x) => factor * x) }
    return {
      ...{ before, factor, kept, tile, first, last, largest },
      sum: kept.sum + tile.sum,
      gathered: kept.gathered.map((x, v) => x + tile.gathered[v]),
    }
  }

  // ---- Its parts ----

  const columns = keys.map((key, s) => {
    const made = bar()
    const words = `${round(scores[s], 1)}\n(${values[s].join(", ")})`
    made.element.append(make("small", { textContent: words }))
    return made
  })
  const chart = make("div", { className: "hw-live__columns hw-tiles" },
    ...columns.map(({ element }) => element))
  const rows = ["largest", "mass", ...whole.map((_, v) => `mixture ${v + 1}`)].map((name) => {
    const cells = [0, 1, 2, 3].map(() => make("td", {}, make("data", {})))
    return { cells, element: make("tr", {}, make("th", { scope: "row", textContent: name }), ...cells) }
  })
  const heads = ["before", "", "this tile", "after"].map((textContent) =>
    make("th", { scope: "col", textContent }))
  const state = make("table", { className: "hw-tiles__state" },
    make("thead", {}, make("tr", {}, make("td", {}), ...heads)),
    make("tbody", {}, ...rows.map(({ element }) => element)))

  /** Fill a row; what is null stays empty. */
  function fill(row, numbers, digits) {
    row.cells.forEach((cell, c) => {
      const number = numbers[c]
      if (Number.isFinite(number)) show(cell.firstChild, number, digits)
      else {
        cell.firstChild.value = ""
        cell.firstChild.textContent = number === -Infinity ? "−∞" : ""
      }
    })
  }

  function draw() {
    const size = sizes[at]
    let now = start
    for (let tile = 0; tile < step; tile++) {
      now = read_tile(now, tile * size, Math.min((tile + 1) * size, S))
    }
    columns.forEach(({ element, set }, s) => {
      const seen = step > 0 && s < now.last
      set(seen ? Math.exp(scores[s] - now.largest) : 0, undefined, 2)
      element.classList.toggle("hw-tiles__unread", !seen)
      element.classList.toggle("hw-tiles__now", seen && s >= now.first)
    })
    heads[1].textContent = step ? `× ${round(now.factor)}` : "× factor"
    const tiles = Math.ceil(S / size)
    if (!step) {
      fill(rows[0], [null, null, null, -Infinity], 1)
      rows.slice(1).forEach((row) => fill(row, [null, null, null, 0], 4))
      return say("Nothing is read yet: the mass and the mixture are zero.")
    }
    const { before, kept, tile } = now
    const own = Math.max(...scores.slice(now.first, now.last))
    fill(rows[0], [before.largest, null, own, now.largest], 1)
    fill(rows[1], [before.sum, kept.sum, tile.sum, now.sum], 4)
    whole.forEach((_, v) => fill(rows[2 + v],
      [before.gathered[v], kept.gathered[v], tile.gathered[v], now.gathered[v]], 4))

    const context = now.gathered.map((x) => x / now.sum)
    const told = (vector) => vector.map((x) => round(x)).join(", ")
    const equal = context.every((x, v) => Math.abs(x - whole[v]) < 1e-6)
    say(
      `Tile ${step} of ${tiles}: ` +
        (step === 1 ? "the first." :
          now.factor < 1 ? `a larger score, so what was kept is multiplied by ${round(now.factor)}.` :
          "no larger score, so what was kept stays.") +
        `\nMixture / mass, the context ${step < tiles ? "so far" : "of all keys"}: ${told(context)}.` +
        (step < tiles ? "" :
          `\nOne softmax over all keys: ${told(whole)}, ${equal ? "the same" : "another"}.`),
    )
  }
  function go(to) {
    step = Math.min(Math.max(to, 0), Math.ceil(S / sizes[at]))
    draw()
  }

  stage.append(
    choose("keys a tile", sizes, at, (picked) => {
      at = picked
      go(0)
    }),
    group(press("Back", () => go(step - 1)), press("Next tile", () => go(step + 1))),
    chart, state)
  draw()
})
