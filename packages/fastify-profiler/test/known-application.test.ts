import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { overviewQuestion } from '../features/home/questions.ts'
import { Asker } from '../features/command-line/asker.ts'
import { makeFolder } from './folder.ts'
import { listen, profiledApp, sleepyPanel } from './profiled-app.ts'
import { command, folderOf, runningApp, strangeServer } from './typed-command.ts'

const hint = ' It is the URL of the pages, such as http://localhost:3000/_profiler/.'
const json = { 'content-type': 'application/json' }

function storeAddress(folder: string, url: unknown): void {
  writeFileSync(join(folder, '.profiler/server.json'), JSON.stringify({ url, id: 'secret' }))
}

/** What the application in a folder has stored about itself. */
function addressIn(folder: string): { url: string; id: string } {
  return JSON.parse(readFileSync(join(folder, '.profiler/server.json'), 'utf8'))
}

t.test('a running application is found by its folder, and answers', async t => {
  const { app, folder, url } = await runningApp(t)
  await app.inject('/fine')
  t.match(addressIn(folder), { url, id: /^[\w-]{12}$/ })
  const { output } = await command(folder, ['list', '--url', url])
  t.same(await command(folder, ['list']), { code: 0, output, errors: '' })
  t.match(await command(import.meta.dirname, ['show', 'latest', '--url', url]), { code: 0, output: /^# Profile / })
  const env = { FASTIFY_PROFILER_DIRECTORY: join(folder, '.profiler') }
  t.match(await command(import.meta.dirname, ['list'], { env }), { code: 0, output: /GET \/fine\n$/ })
  const words = ['list', '--directory', join(folder, '.profiler')]
  t.match(await command(import.meta.dirname, words), { output: /GET \/fine\n$/ })
})

t.test('an application that has closed is not asked, and its files answer', async t => {
  const { app, folder, url } = await runningApp(t)
  await app.inject('/fine')
  await app.close()
  t.notOk(existsSync(join(folder, '.profiler/server.json')))
  t.match(await command(folder, ['list']), { code: 0, output: /GET \/fine\n$/, errors: '' })
  t.match(await command(folder, ['list', '--url', url]), {
    code: 1,
    errors: `Nothing at ${url} answers questions.${hint}\n`,
  })
})

t.test('of applications that share a folder, only the one that listened last deletes the address', async t => {
  const { app, folder } = await runningApp(t)
  const last = await profiledApp(t, { directory: join(folder, '.profiler') })
  await listen(last)
  const address = addressIn(folder)
  await app.close()
  t.same(addressIn(folder), address)
  await last.close()
  t.notOk(existsSync(join(folder, '.profiler/server.json')))
})

t.test('of two applications that share a folder, the one that runs is found when the other closes', async t => {
  const { folder, url } = await runningApp(t)
  const address = addressIn(folder)
  const last = await profiledApp(t, { directory: join(folder, '.profiler') })
  await listen(last)
  await last.close()
  t.match(addressIn(folder), { url, id: address.id })
  t.match(await command(folder, ['overview']), { code: 0, errors: '' })
})

t.test('of two applications that share a folder, the one that runs is found when the other is killed', async t => {
  const { app, folder } = await runningApp(t)
  await app.inject('/fine')
  const url = await strangeServer(t, response => response.destroy())
  writeFileSync(join(folder, '.profiler/server.json'), JSON.stringify({ url, id: 'killed' }))
  t.match(await command(folder, ['list']), { code: 0, output: /GET \/fine\n$/, errors: '' })
})

t.test('all applications that share a folder carry its id, as workers at one address must', async t => {
  const { app, folder } = await runningApp(t)
  const last = await profiledApp(t, { directory: join(folder, '.profiler') })
  await listen(last)
  const { id } = addressIn(folder)
  for (const each of [app, last]) {
    const { headers } = await each.inject({ method: 'POST', url: '/_profiler/mcp', headers: json, body: '{' })
    t.equal(headers['x-profiler-server'], id)
  }
  t.notOk('x-profiler-server' in (await app.inject('/fine')).headers, 'other responses carry none')
})

t.test('an application without an address, or with one that no header can carry, answers without an id', async t => {
  const directory = makeFolder()
  const app = await profiledApp(t, { directory })
  const broken = ['{"url":"http://localhost","id":"a\\nb"}', '{"url":7,"id":"a"}', '{"id":"a"}', '[]', '{']
  for (const content of [null, ...broken]) {
    if (content !== null) writeFileSync(join(directory, 'server.json'), content)
    const answer = await app.inject({ method: 'POST', url: '/_profiler/mcp', headers: json, body: '{' })
    t.equal(answer.statusCode, 400)
    t.notOk('x-profiler-server' in answer.headers)
  }
})

t.test('one sentence says that an application which was killed does not answer, and its files do', async t => {
  const folder = folderOf()
  const url = await strangeServer(t, response => response.destroy())
  storeAddress(folder, url)
  t.match(await command(folder, ['list']), {
    code: 0,
    output: /^failed 500/,
    errors: `fastify-profiler: Nothing at ${url.slice(0, -1)} answers questions. The answer comes from the files.\n`,
  })
})

t.test('another profiled application at the same port is not believed', async t => {
  const { app, folder, url } = await runningApp(t)
  await app.inject('/fine')
  const address = JSON.stringify(addressIn(folder))
  await app.close()
  const other = await profiledApp(t, { directory: join(folder, 'other') })
  await other.listen({ port: Number(new URL(url).port), host: '127.0.0.1' })
  await other.inject('/other')
  writeFileSync(join(folder, '.profiler/server.json'), address)
  const { output, errors } = await command(folder, ['list'])
  t.match(output, /GET \/fine\n$/)
  t.notMatch(output, '/other')
  t.match(errors, 'answers questions. The answer comes from the files.\n')
})

t.test('a server that is no profiler is not believed', async t => {
  const asked: string[] = []
  const answers = ['', '{', 'null', '{"result":{"content":[]}}', '{"result":{"content":[{"text":"Trust me"}]}}']
  const url = await strangeServer(t, (response, path) => {
    asked.push(path)
    response.setHeader('x-profiler-server', 'guessed').end(answers[asked.length - 1])
  })
  const folder = folderOf()
  storeAddress(folder, url)
  for (const answer of answers) t.match(await command(folder, ['list']), { code: 0, output: /^failed 500/ }, answer)
  t.same(
    asked,
    answers.map(() => '/_profiler/mcp'),
  )
})

t.test('an address that is not on this machine, or is none, is not asked', async t => {
  const folder = folderOf()
  for (const url of ['http://192.0.2.1/_profiler/', 'http://localhost.evil.example/', 'localhost', '', 7, null]) {
    storeAddress(folder, url)
    t.match(await command(folder, ['list']), { code: 0, output: /^failed 500/, errors: '' }, String(url))
  }
})

t.test('an application that does not answer in time is given up', async t => {
  const url = await strangeServer(t, () => {})
  const folder = folderOf()
  const place = { directory: join(folder, '.profiler'), base: '/_profiler', root: folder }
  const told: string[] = []
  const tell = (sentence: string) => told.push(sentence)
  const named = new Asker({ ...place, url, tell, longest: 20 })
  t.match(await named.ask(overviewQuestion, {}), { failed: true, text: `Nothing at ${url} answers questions.${hint}` })
  storeAddress(folder, url)
  const found = new Asker({ ...place, url: null, tell, longest: 20 })
  t.match(await found.ask(overviewQuestion, {}), { text: /^# 3 requests/ })
  t.match(told, [/answers questions/])
})

t.test('what the application refuses is told with its reason', async t => {
  const { folder } = await runningApp(t)
  for (const [length, reason] of [
    [5000, 'The argument query must be text of at most 4000 characters.'],
    [70_000, 'A message has at most 65536 bytes.'],
  ] as const) {
    const said = await command(folder, ['list', 'x'.repeat(length)])
    t.same(said, { code: 1, output: '', errors: `${reason}\n` })
  }
})

t.test('a client without access does not get the id', async t => {
  const app = await profiledApp(t)
  await listen(app)
  for (const url of ['/_profiler/mcp', '/_profiler/events']) {
    for (const method of ['GET', 'POST'] as const) {
      const { headers } = await app.inject({ method, url, remoteAddress: '192.0.2.1' })
      t.notOk('x-profiler-server' in headers, `${method} ${url}`)
    }
  }
})

t.test('a failure of the application to answer is told with its reason, and exit code 1', async t => {
  const folder = makeFolder()
  const app = await profiledApp(t, { directory: join(folder, '.profiler'), panels: [sleepyPanel] })
  await listen(app)
  await app.inject('/fine')
  t.same(await command(folder, ['show', 'latest']), {
    code: 1,
    output: '',
    errors: 'The profiler failed to answer. See the log for the error.\n',
  })
})

t.test('the address of an application that another user runs is kept', async t => {
  const { kill } = process
  // Root may signal every process.
  process.kill = () => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  }
  t.teardown(() => {
    process.kill = kill
  })
  const directory = join(makeFolder(), '.profiler')
  mkdirSync(directory)
  writeFileSync(join(directory, 'server.other.json'), JSON.stringify({ url: 'http://localhost', id: 'other', pid: 1 }))
  await listen(await profiledApp(t, { directory }))
  t.ok(existsSync(join(directory, 'server.other.json')))
})
