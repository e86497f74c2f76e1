import { once } from 'node:events'
import { IncomingMessage, request, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import type { ProfilerOptions } from '../index.ts'
import { Boundary } from '../core/guard.ts'
import { LiveRows } from '../features/home/live-rows.ts'
import { profile, summary } from './views/example-profile.ts'
import { listen, profiledApp, turns } from './profiled-app.ts'

interface Told {
  rows: string[]
  missed: number
}

/** An application that listens, and a way to read its events. */
async function appWithEvents(t: Test, options: ProfilerOptions = {}) {
  const app = await profiledApp(t, options)
  app.get('/*', async () => 'ok')
  const { origin } = await listen(app)

  async function open(path = '/_profiler/events') {
    const asked = request(`${origin}${path}`)
    asked.on('error', () => {})
    asked.end()
    const [response]: IncomingMessage[] = await once(asked, 'response')
    if (response === undefined) throw new Error('There is no response.')
    t.teardown(() => asked.destroy())
    return { asked, response, events: eventsOf(response) }
  }

  return { app, origin, open }
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<{ name: string; data: Told }> {
  let received = ''
  for await (const chunk of response) {
    received += String(chunk)
    for (let end = received.indexOf('\n\n'); end !== -1; end = received.indexOf('\n\n')) {
      const event = received.slice(0, end)
      received = received.slice(end + 2)
      yield {
        name: /^event: (.*)$/m.exec(event)?.[1] ?? '',
        data: JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}'),
      }
    }
  }
}

async function next(events: AsyncGenerator<{ name: string; data: Told }>): Promise<Told> {
  for await (const { name, data } of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }) {
    if (name === 'requests') return data
  }
  throw new Error('The stream has ended.')
}

t.test('a new request is a row of the event stream', async t => {
  const { origin, open } = await appWithEvents(t)
  const { events, response } = await open()
  t.match(response.headers, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
  t.equal((await events.next()).value?.name, 'hello')
  await (await fetch(`${origin}/museums?lang=fr`)).text()
  const { rows, missed } = await next(events)
  t.equal(missed, 0)
  t.match(rows[0], /<tr data-key="200 GET \/museums\?lang=fr">.*href="\/_profiler\/[\w-]{12}"><code>GET \/museums/s)
})

t.test('a row has the columns and links that its list asks for', async t => {
  const { origin, open } = await appWithEvents(t, { labels: ['license'] })
  const { events } = await open('/_profiler/events?origin=Host&origin=Unknown&panel=logs')
  await (await fetch(`${origin}/one`)).text()
  const [row] = (await next(events)).rows
  t.match(row, /panel=logs.*<td class="only-wide">127\.0\.0\.1<\/td><td class="number/s)
})

t.test('of a burst, the first fifty requests are rows and the others are counted', async t => {
  const { app, open } = await appWithEvents(t)
  const { events } = await open()
  await Promise.all(Array.from({ length: 200 }, (_, n) => app.inject(`/burst/${n}`)))
  let rows = 0
  let missed = 0
  while (rows + missed < 200) {
    const told = await next(events)
    t.ok(told.rows.length <= 50)
    rows += told.rows.length
    missed += told.missed
  }
  t.equal(rows + missed, 200)
})

/** Rows of requests for readers that the test makes, since those of the system have buffers of their own. */
function liveRows(t: Test) {
  const live = new LiveRows(new Boundary(error => t.fail(String(error))))
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const rendered: string[] = []
  live.open(response, ({ url }) => {
    rendered.push(url)
    return url
  })
  const send = async (...urls: string[]) => {
    const expected = rendered.length + urls.length
    for (const url of urls) live.add({ ...summary(profile()), url })
    while (rendered.length < expected) await turns()
  }
  return { response, send }
}

t.test('a reader that stalls holds at most 64 kB, and learns what it has missed', async t => {
  const { response, send } = liveRows(t)
  for (let event = 0; event < 10; event++) await send(...Array.from({ length: 50 }, () => 'x'.repeat(400)))
  t.ok(response.writableLength > 40_000 && response.writableLength <= 65_536, `${response.writableLength} bytes`)
  const connection = new PassThrough()
  response.assignSocket(Object(connection))
  await send('/read again')
  response.once('finish', () => connection.end()).end()
  const events = (await text(connection)).split('event: requests\n').slice(1)
  const [whole, rest] = [events.slice(0, -1), events.at(-1)]
  t.match(rest, `data: {"rows":["/read again"],"missed":${(10 - whole.length) * 50}}\n\n`)
})

t.test('an event too large for a reader is left out, and counted in the next', async t => {
  const { response, send } = liveRows(t)
  const written = t.capture(response, 'write')
  await send('x'.repeat(70_000))
  await send('/small')
  const found = written().map(({ args }) => args[0])
  t.same(found, ['event: requests\ndata: {"rows":["/small"],"missed":1}\n\n'])
})

t.test('closing the application ends the streams', async t => {
  const { app, open } = await appWithEvents(t)
  const { response } = await open()
  response.resume()
  await Promise.all([once(response, 'end'), app.close()])
})

t.test('a browser that leaves is forgotten, and too many are refused', async t => {
  const { open } = await appWithEvents(t)
  const readers = []
  for (let n = 0; n < 50; n++) readers.push(await open())
  t.equal((await open()).response.statusCode, 503)
  for (const { asked } of readers) asked.destroy()
  let status = 503
  while (status === 503) status = (await open()).response.statusCode ?? 0
  t.equal(status, 200)
})

t.test('HEAD does not open a stream', async t => {
  const app = await profiledApp(t)
  t.equal((await app.inject({ method: 'HEAD', url: '/_profiler/events' })).statusCode, 404)
})
