// Write a text with a cache: what a call computes, what it finds, what a window forgets.
hwLive.start("writing", (figure, stage, say) => {
  const { make, names, read, weigh, choose, press, group } = hwLive
  const words = names(figure, "vectors")
  const [Q, K] = [[0, 2], [2, 4]].map((part) =>
    read(figure, "vectors").map((row) => row.slice(...part)))
  const T = words.length
  const cuts = [[5, 1, 1, 1, 1], Array(T).fill(1), [4, 4, 1]]
  const windows = [T, 3]
  let [cut, window, call] = [0, 0, 0]

  const { grid, cells, head } = hwLive.map(words, [])
  grid.classList.add("hw-live__map--writing")
  const count = (many, what) => `${many} ${what}${many === 1 ? "" : "s"}`

  function draw() {
    const sizes = cuts[cut].slice(0, call + 1)
    const end = sizes.reduce((total, size) => total + size, 0)
    const first = end - sizes.at(-1)
    const W = windows[window]
    const weights = weigh(Q, K, (t, s) => s <= t && t - s < W)
    const kept = Math.max(0, first - W + 1) // the oldest that this call may still see
    words.forEach((_, t) => {
      const own = first <= t && t < end
      grid.tBodies[0].rows[t].classList.toggle("hw-live__own", own)
      head[t + 1].classList.toggle("hw-live__own", own)
      head[t + 1].classList.toggle("hw-live__gone", t < kept)
      cells[t].forEach((cell, s) => {
        const seen = own && s <= t && t - s < W
        hwLive.fill(cell, seen ? weights[t][s] : null)
        cell.classList.toggle("hw-live__edited", own && first <= s && s <= t)
      })
    })
    const without = sizes.reduce(([sum, all], size) => [sum + all + size, all + size], [0, 0])[0]
    say(
      `Call ${call + 1} of ${cuts[cut].length} ${call ? "writes" : "reads"} ` +
        `${count(end - first, "token")}: ${count(end - first, "key")} computed, ` +
        `${first - kept} found in the cache` + (kept ? `, ${kept} forgotten` : "") +
        `. So far ${end} computed; without a cache it would be ${without}.`,
    )
  }
  function go(to) {
    call = Math.min(Math.max(to, 0), cuts[cut].length - 1)
    draw()
  }

  stage.append(
    choose("tokens a call", ["a prompt of 5, then 1", "1", "4"], cut, (at) => {
      cut = at
      go(0)
    }),
    choose("window", ["all", "3 tokens"], window, (at) => {
      window = at
      draw()
    }),
    group(press("Begin again", () => go(0)), press("Next call", () => go(call + 1))),
    grid)
  draw()
})
