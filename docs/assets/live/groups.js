// Let query heads share heads of keys and values, as neighbours or dealt out in turn.
hwLive.start("groups", (figure, stage, say) => {
  const { make, read, show, choose, bar } = hwLive
  const shared = read(figure, "groups") // a row for each query head
  const kept = read(figure, "kept") // a row for each number of groups
  const counts = kept.map(([groups]) => groups)
  const H = shared.length
  let [at, wrong] = [2, false]

  const range = (length) => Array.from({ length }, (_, i) => i)
  function cell(group) {
    const data = make("data", {})
    show(data, group, 0)
    return make("span", { className: `hw-live__cell${group % 2 ? " hw-live__odd" : ""}` }, data)
  }
  const part = (title, ...inside) =>
    make("div", { className: "hw-live__part" }, make("p", { textContent: title }),
      make("span", { className: "hw-live__run" }, ...inside))
  const parts = make("div", { className: "hw-live__parts" })
  const bytes = bar()

  function draw() {
    const G = counts[at]
    const owner = (h) => (wrong ? h % G : shared[h][at])
    parts.replaceChildren(
      part("query heads, and the group each reads", ...range(H).map((h) => cell(owner(h)))),
      part("heads of keys and values", ...range(G).map(cell)))
    bytes.set(kept[at][1], kept[at][1] / kept[0][1], 0)
    const strays = range(H).filter((h) => owner(h) !== shared[h][at]).length
    say(
      `${H} query heads, ${G} of keys and values: ${kept[at][1]} bytes a token and layer, ` +
        `1 in ${H / G} of all heads’.` +
        (wrong ? strays ? ` ${strays} heads read another group than they should.`
                        : " Here the wrong order cannot be told from the right one." : ""),
    )
  }

  stage.append(
    choose("heads of keys and values", counts, at, (picked) => {
      at = picked
      draw()
    }),
    choose("shared by", ["neighbours", "dealt in turn (wrong)"], 0, (picked) => {
      wrong = picked === 1
      draw()
    }),
    parts,
    make("div", { className: "hw-live__named" },
      make("small", { textContent: "bytes" }), bytes.element))
  draw()
})
