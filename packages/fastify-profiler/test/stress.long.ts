import t from 'tap'
import { deferred, everythingStored, listen, profiledApp, profileOf, sendAndLeave } from './profiled-app.ts'

t.test('ten thousand aborted requests leave nothing pending, on connections of their own or pipelined', async t => {
  const app = await profiledApp(t, { storeBounds: { profiles: 20_000 } })
  let waiting = 0
  let gone = () => {}
  app.get('/slow', () => {
    if (--waiting === 0) gone()
  })
  const { port } = await listen(app)
  const leave = async (connections: number, requests: number) => {
    waiting = connections * requests
    const { promise, resolve } = deferred()
    gone = resolve
    const text = 'GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(requests)
    await Promise.all(Array.from({ length: connections }, () => sendAndLeave(port, text, promise)))
    await everythingStored(app)
  }
  for (let round = 0; round < 5; round++) await leave(100, 1)
  for (let round = 0; round < 5; round++) await leave(10, 190)
  t.equal(app.profiler.pending, 0)
  t.equal((await app.profiler.search({ url: '/slow' })).total, 10_000)
  const { profiles } = await app.profiler.search({ perPage: 200 })
  t.ok(profiles.every(({ outcome, status }) => outcome === 'aborted' && status === null))
})

t.test('100,000 queries and a body of 100 MB stay within the bounds of a profile, which tells the rest', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 200_000 } }, { bodyLimit: 200 * 1024 * 1024 })
  app.post('/', async ({ recorder }) => {
    for (let query = 0; query < 100_000; query++) {
      recorder?.span({ kind: 'query', name: 'select', detail: 'select '.repeat(20) }).end()
    }
    return 'ok'
  })
  const headers = { 'content-type': 'application/json' }
  const payload = JSON.stringify({ text: 'x'.repeat(100 * 1024 * 1024) })
  const profile = await profileOf(app, { method: 'POST', url: '/', headers, payload })
  t.equal(profile.status, 200)
  t.ok(JSON.stringify(profile).length <= 200_000)
  t.equal(profile.request.bodySize, payload.length)
  const spans = profile.dropped.filter(({ what }) => what === 'spans').reduce((sum, { count }) => sum + count, 0)
  t.equal(spans + profile.spans.length, 100_001, 'every span is kept or counted')
  t.match(JSON.stringify(profile.request.body), 'characters')
})
