import { once } from 'node:events'
import { IncomingMessage, request, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import type { ProfilerOptions } from '../index.ts'
import { Boundary } from '../base/boundary.ts'
import { LiveRows } from '../show/live-rows.ts'
import { profile, summary } from './views/example-profile.ts'
import { hostileStrings } from './views/hostile-profile.ts'
import { listen, profiledApp } from './profiled-app.ts'

interface Told {
  rows: string[]
  missed: number
}

/** An application that listens, and a way to read its events. */
async function appWithEvents(t: Test, options: ProfilerOptions = {}) {
  const app = await profiledApp(t, options)
  app.get('/*', async () => 'ok')
  const { origin, port } = await listen(app)

  async function open(path = '/_profiler/events') {
    const asked = request(`${origin}${path}`)
    asked.on('error', () => {})
    asked.end()
    const [response]: IncomingMessage[] = await once(asked, 'response')
    if (response === undefined) throw new Error('There is no response.')
    t.teardown(() => asked.destroy())
    return { asked, response, events: eventsOf(response) }
  }

  return { app, origin, port, open }
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<{ name: string; data: Told }> {
  let text = ''
  for await (const chunk of response) {
    text += String(chunk)
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end)
      text = text.slice(end + 2)
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
  t.match(rows[0], /<tr data-key="200 GET \/museums\?lang=fr">.*href="\/_profiler\/[\w-]{12}">GET \/museums/s)
})

t.test('a row has the columns and links that its list asks for', async t => {
  const { origin, open } = await appWithEvents(t, { labels: ['license'] })
  const { events } = await open('/_profiler/events?fact=Host&fact=Unknown&panel=logs')
  await (await fetch(`${origin}/one`)).text()
  const [row] = (await next(events)).rows
  t.match(row, /panel=logs.*<td class="only-wide">127\.0\.0\.1<\/td><td class="number/s)
})

t.test('the pages of the profiler do not appear in its own stream', async t => {
  const { origin, open } = await appWithEvents(t)
  const { events } = await open()
  await (await fetch(`${origin}/_profiler/`)).text()
  await (await fetch(`${origin}/mine`)).text()
  const { rows } = await next(events)
  t.equal(rows.length, 1)
  t.match(rows[0], '/mine')
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

t.test('a reader that stalls holds at most 64 kB, and learns what it has missed', { timeout: 120_000 }, async t => {
  const { app, origin, open, port } = await appWithEvents(t)
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const arrived = once(app.server, 'request')
  socket.pause()
  socket.write('GET /_profiler/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [, response] = await arrived
  const { events } = await open()
  let most = 0
  for (let sent = 0; response.writableLength === 0 || sent < 400; sent++) {
    await (await fetch(`${origin}/${'x'.repeat(400)}${sent}`)).text()
    most = Math.max(most, response.writableLength)
    if (sent > 20_000) break
  }
  t.ok(most <= 65_536, `${most} bytes`)
  t.ok((await next(events)).rows.length > 0, 'the other reader goes on')
  socket.destroy()
})

t.test('an event too large for a reader is left out, and counted in the next', async t => {
  const live = new LiveRows(new Boundary(error => t.fail(String(error))))
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const written = t.capture(response, 'write')
  live.open(response, ({ url }) => url)
  for (const url of ['x'.repeat(70_000), '/small']) {
    live.add({ ...summary(profile()), url })
    await setTimeout(100)
  }
  t.same(
    written()
      .map(({ args }) => args[0])
      .slice(1),
    ['event: requests\ndata: {"rows":["/small"],"missed":1}\n\n'],
  )
})

t.test('hostile URLs are escaped in rows', async t => {
  const { app, open } = await appWithEvents(t)
  const { events } = await open()
  for (const hostile of hostileStrings) {
    await app.inject(`/x?${encodeURIComponent(hostile.replace(/\p{Surrogate}/gu, '')).slice(0, 900)}"><script>`)
  }
  const { rows } = await next(events)
  t.notMatch(rows.join('').replace(/"[^"]*"/g, '""'), /<script|onerror=|onload=/)
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

t.test('a client without access cannot read the stream, and HEAD does not open one', async t => {
  const app: FastifyInstance = await profiledApp(t)
  t.equal((await app.inject({ url: '/_profiler/events', remoteAddress: '192.0.2.1' })).statusCode, 404)
  t.equal((await app.inject({ method: 'HEAD', url: '/_profiler/events' })).statusCode, 404)
})
