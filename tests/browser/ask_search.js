// Ask the search of a built site, without a browser: node ask_search.js SITE < questions
//
// The theme searches in a worker, which runs here with its own index. Questions come as a
// list in JSON, and so do the answers: of each the addresses in their order.
const { readdirSync, readFileSync } = require("node:fs")
const { createContext, runInContext } = require("node:vm")

const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3]
const [, , site] = process.argv
const worker = {}
const answers = []
worker.self = worker
worker.addEventListener = (_, listen) => (worker.listen = listen)
worker.postMessage = (message) => answers.push(message)

const folder = `${site}/assets/javascripts/workers`
const [script] = readdirSync(folder).filter((name) => /^search\..*\.js$/.test(name))
runInContext(readFileSync(`${folder}/${script}`, "utf8"), createContext(worker))

async function ask(type, data, expected) {
  await worker.listen({ data: { type, data } })
  const answer = answers.pop()
  if (answer?.type !== expected) throw new Error(`no answer to ${JSON.stringify(data)}`)
  return answer.data
}

// A result is the sections of a page; the theme shows first the page itself, if it is one.
const first = (sections) =>
  sections.find(({ location }) => !location.includes("#")) ?? sections[0]

async function main() {
  const { config, docs } = JSON.parse(readFileSync(`${site}/search/search_index.json`))
  await ask(SETUP, { config, docs, options: { suggest: true } }, READY)
  const found = []
  for (const typed of JSON.parse(readFileSync(0))) {
    const { items } = await ask(QUERY, typed, RESULT)
    found.push(items.map((sections) => first(sections).location))
  }
  console.log(JSON.stringify(found))
}

main()
