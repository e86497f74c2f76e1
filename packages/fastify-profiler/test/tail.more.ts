import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { run } from '../features/command-line/run-command.ts'
import { makeFolder } from './folder.ts'
import { deferred, listen, profiledApp } from './profiled-app.ts'
import { keptTerminal, runningApp, strangeServer } from './typed-command.ts'
import { profile, summary } from './views/example-profile.ts'

/** Resolves when somebody reads the event stream of an application. Called before that. */
async function untilRead(app: FastifyInstance): Promise<void> {
  const [, response]: ServerResponse[] = await once(app.server, 'request')
  while (response?.headersSent !== true) await new Promise(resolve => setImmediate(resolve))
}

/** Runs tail in a folder until the test ends it. Resolves once it reads the application's events. */
async function tailing(app: FastifyInstance, folder: string, words: readonly string[], isScreen = true) {
  const ending = new AbortController()
  const { errors, output, terminal } = keptTerminal(folder, { ended: ending.signal, isScreen })
  const read = untilRead(app)
  const running = run(words, terminal)
  await read
  const end = async () => {
    ending.abort()
    return running
  }
  return { errors, output, end }
}

const next = async (stream: Readable) => String((await once(stream, 'data'))[0])

t.test('tail prints requests as they happen, and waits for an application that restarts', async t => {
  const { app, folder } = await runningApp(t)
  const { errors, output, end } = await tailing(app, folder, ['tail'])
  await app.inject('/fine')
  t.match(await next(output), /^\S+ 200 .*GET \/fine\n$/)
  await app.close()
  t.match(await next(errors), 'Waiting for the application.')
  const again = await profiledApp(t, { directory: join(folder, '.profiler') })
  again.get('/again', async () => 'fine')
  const readAgain = untilRead(again)
  await listen(again)
  await readAgain
  await again.inject('/again')
  t.match(await next(output), 'GET /again')
  t.equal(await end(), 0)
  await again.close()
})

t.test('tail prints JSON into a pipe, and counts what it has missed', async t => {
  const { app, folder } = await runningApp(t)
  const { errors, output, end } = await tailing(app, folder, ['tail'], false)
  await Promise.all(Array.from({ length: 60 }, () => app.inject('/fine')))
  t.match(await next(errors), /^\d+ more requests\.\n$/)
  t.equal(await end(), 0)
  t.match(JSON.parse(String(output.read()).split('\n')[0] ?? ''), { url: '/fine', status: 200 })
})

t.test('tail believes no stranger that has the port of the application', async t => {
  const { promise, resolve } = deferred()
  const answers = [
    (response: ServerResponse) => response.destroy(),
    (response: ServerResponse) => response.writeHead(204).end(),
    (response: ServerResponse) => {
      response.on('close', resolve).writeHead(200, { 'x-profiler-server': 'guessed' })
      response.write(`event: requests\ndata: ${JSON.stringify({ rows: [JSON.stringify(summary(profile()))] })}\n\n`)
    },
  ]
  const url = await strangeServer(t, response => answers.shift()?.(response))
  const folder = makeFolder({ '.profiler': { 'server.json': JSON.stringify({ url, id: 'secret' }) } })
  const ending = new AbortController()
  const { errors, output, terminal } = keptTerminal(folder, { ended: ending.signal })
  const running = run(['tail'], terminal)
  await promise
  ending.abort()
  t.equal(await running, 0)
  t.equal(String(errors.read()), 'Waiting for the application.\n')
  t.equal(output.read(), null)
})

t.test('tail follows the application that runs when another one in its folder was killed', async t => {
  const { app, folder } = await runningApp(t)
  const url = await strangeServer(t, response => response.destroy())
  writeFileSync(join(folder, '.profiler/server.json'), JSON.stringify({ url, id: 'killed' }))
  const { errors, output, end } = await tailing(app, folder, ['tail'])
  await app.inject('/fine')
  t.match(await next(output), /GET \/fine\n$/)
  t.equal(await end(), 0)
  t.equal(errors.read(), null)
})

t.test('tail shows the invisible characters of a request', async t => {
  const folder = makeFolder()
  const app = await profiledApp(t, { directory: join(folder, '.profiler') })
  app.get('/odd', async () => {
    throw new Error('a\rb\u2028c\u009bd\u00ade\u{e0041}')
  })
  await listen(app)
  for (const [words, line] of [
    [['tail'], /GET \/odd {2}Error: a␍b\\u\{2028\}c\\u009bd\\u\{ad\}e\\u\{e0041\}\n$/],
    [['tail', '--json'], /Error: a\\rb\\u2028c\\u009bd\\u00ade\\udb40\\udc41"/],
  ] as const) {
    const { output, end } = await tailing(app, folder, words)
    await app.inject('/odd')
    t.match(await next(output), line)
    t.equal(await end(), 0)
  }
})
