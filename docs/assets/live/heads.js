// Follow a number of a projection through view and transpose into its head.
hwLive.start("heads", (figure, stage, say) => {
  const { make, names, read, round, show, product, choose } = hwLive
  const words = names(figure, "tokens")
  const tokens = read(figure, "tokens")
  const matrix = read(figure, "matrix")
  const projected = product(tokens, matrix)
  const [T, E] = [projected.length, projected[0].length]
  const counts = [1, 2, 3, 6]
  let [H, place, wrong] = [2, 13, false]

  const ordinal = (i) => ["first", "second", "third", "fourth", "fifth", "sixth"][i]

  /** A cell of a stage, in the colour of the head that its number belongs to. */
  function cell(at) {
    const data = make("data", {})
    show(data, projected[Math.floor(at / E)][at % E], 2)
    const head = Math.floor((at % E) / (E / H))
    const odd = head % 2 ? " hw-live__odd" : ""
    const own = at === place ? " hw-live__picked" : ""
    return make("span", { className: `hw-live__cell${odd}${own}` }, data)
  }
  const row = (label, ...inside) =>
    make("div", { className: "hw-live__row" }, make("small", { textContent: label }), ...inside)
  const part = (title, shape, ...rows) =>
    make("div", { className: "hw-live__part" },
      make("p", {}, make("b", { textContent: title }), ` ${shape.join(" × ")}`), ...rows)

  // The projection is what one picks from; the other stages are drawn anew.
  const picks = choose("projection, 3 × 6", projected.flat().map((x) => round(x, 2)), place, (at) => {
    place = at
    draw()
  })
  picks.classList.add("hw-live__picks")
  const stages = make("div", { className: "hw-live__parts" })
  const made = make("p", { className: "hw-live__sum" })

  function draw() {
    const D = E / H
    const [t, e] = [Math.floor(place / E), place % E]
    const range = (length) => Array.from({ length }, (_, i) => i)
    // Where the number stands in memory of which (h, t, d) is read.
    const source = (h, token, d) => (wrong ? (h * T + token) * D + d : token * E + h * D + d)
    const [h, token, d] = wrong
      ? [Math.floor(place / (T * D)), Math.floor(place / D) % T, place % D]
      : [Math.floor(e / D), t, e % D]

    picks.querySelectorAll("label").forEach((label, at) =>
      label.classList.toggle("hw-live__odd", Math.floor((at % E) / D) % 2 === 1))
    stages.replaceChildren(
      ...(wrong ? [] : [part("view", [T, H, D], ...range(T).map((i) => row(words[i],
        ...range(H).map((j) => make("span", { className: "hw-live__run" },
          ...range(D).map((k) => cell(i * E + j * D + k)))))))]),
      part(wrong ? "reshape" : "transpose", [H, T, D], make("div", { className: "hw-live__heads" },
        ...range(H).map((j) => make("div", {}, make("small", { textContent: `${ordinal(j)} head` }),
          ...range(T).map((i) => make("span", { className: "hw-live__run" },
            ...range(D).map((k) => cell(source(j, i, k))))))))),
      part("memory", [T * E], make("span", { className: "hw-live__run hw-live__memory" },
        ...range(T * E).map(cell))))

    // A line breaks between the products, not within one.
    const terms = tokens[t].map((x, i) => `${x.toFixed(2)}\u00a0×\u00a0${round(matrix[i][e])}`)
    made.replaceChildren(`${terms.join(" + ")} = `)
    const total = make("data", {})
    show(total, projected[t][e])
    made.append(total)

    const strayed = token !== t || h !== Math.floor(e / D)
    say(
      `[${t}, ${e}] ` + (wrong ? "" : `becomes [${t}, ${h}, ${d}] by view, and `) +
        `becomes [${h}, ${token}, ${d}] by ${wrong ? "reshape" : "transpose"}: ` +
        `the ${ordinal(h)} head, the ${ordinal(token)} token` +
        (strayed ? ", and that is wrong." : ".") +
        ` In memory it stays at ${place}.`,
    )
  }

  stage.append(
    choose("heads", counts, 1, (at) => {
      H = counts[at]
      draw()
    }),
    choose("cut by", ["view and transpose", "one reshape (wrong)"], 0, (at) => {
      wrong = at === 1
      draw()
    }),
    picks, made, stages)
  draw()
})
