import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import Fastify from 'fastify'
import t from 'tap'
import profiler from '../index.ts'
import { defaultStoreBounds } from '../core/bounds.ts'
import { profileVersion } from '../core/profile.ts'
import { serialise } from '../core/store/profile-text.ts'
import { summarise } from '../core/store/profile-writer.ts'
import { makeFolder } from './folder.ts'
import { everythingStored, keptLines, profiledApp, profileOf } from './profiled-app.ts'
import { bytesIn, storeIn, tokensIn, write } from './stores.ts'
import { configuration, profile } from './views/example-profile.ts'

t.test('profiles survive a restart, with the configuration they ran under', async t => {
  const directory = makeFolder()
  const first = await profiledApp(t, { directory })
  first.get('/', async () => 'ok')
  const stored = await profileOf(first, '/')
  await first.close()
  const second = await profiledApp(t, { directory })
  t.same(await second.profiler.find(stored.token), stored)
  t.ok(second.profiler.viewContext(stored).configuration)
})

t.test('a burst of profiles is written together, within moments', async t => {
  const { store, directory } = storeIn(t)
  const { store: reader } = storeIn(t, directory)
  write(store, 'first')
  t.ok(reader.find('first'), 'a single profile is written at once')
  for (let index = 0; index < 5; index++) write(store, `token-${index}`)
  t.equal(reader.search({}).total, 1)
  while (reader.search({}).total < 6) await new Promise(setImmediate)
  t.ok(reader.find('token-4'))
})

t.test('other users of the machine cannot read profiles', async t => {
  const { store, directory } = storeIn(t, join(makeFolder(), 'profiles'))
  store.writeConfiguration(configuration)
  write(store, 'one')
  t.equal(statSync(directory).mode & 0o777, 0o700)
  for (const name of readdirSync(directory)) t.equal(statSync(join(directory, name)).mode & 0o777, 0o600)
})

t.test('profiles of another version, and empty files, are ignored, and removed at the next write', async t => {
  const files = {
    'profiles-0-0-0.ndjson': 'of old',
    'profiles-v2-0-0-0.ndjson': 'of another',
    'profiles-v3-0-0-0.ndjson': '',
  }
  const { store, complaints, directory } = storeIn(t, makeFolder(files))
  t.equal(store.search({}).total, 0)
  write(store, 'one')
  t.equal(readdirSync(directory).length, 1)
  t.same(complaints, [])
})

t.test('ten thousand profiles are searched by every field', async t => {
  const { store } = storeIn(t, makeFolder(), { profiles: 20_000 })
  const start = Date.now() - 10_000
  for (let index = 0; index < 10_000; index++) {
    write(store, `token-${index}`, {
      time: start + index,
      duration: index,
      status: index % 10 === 0 ? 404 : 200,
      url: `/page/${index}`,
      method: index % 2 === 0 ? 'GET' : 'POST',
      host: index % 3 === 0 ? 'one.test' : 'two.test',
      labels: { license: index % 5 === 0 ? 'Louvre' : 'Prado' },
    })
  }
  for (const [criteria, total] of [
    [{}, 10_000],
    [{ token: 'token-77' }, 1],
    [{ method: 'post' }, 5000],
    [{ status: '404' }, 1000],
    [{ status: '4xx' }, 1000],
    [{ status: '<= 200' }, 9000],
    [{ status: '>404' }, 0],
    [{ status: 'none' }, 0],
    [{ status: 'odd' }, 0],
    [{ url: '/PAGE/123' }, 11],
    [{ route: '/museums/:id' }, 10_000],
    [{ host: 'one' }, 3334],
    [{ ip: '127.' }, 10_000],
    [{ durationFrom: 9000, durationTo: 9009 }, 10],
    [{ timeFrom: start + 5, timeTo: start + 9 }, 5],
    [{ labels: { license: 'louvre' } }, 2000],
    [{ labels: { none: 'such' } }, 0],
    [{ status: '4xx', labels: { license: 'Louvre' }, host: 'one' }, 334],
  ] as const) {
    t.equal(store.search(criteria).total, total, JSON.stringify(criteria))
  }
  const second = store.search({ page: 2, perPage: 50, status: '200' })
  t.same([second.page, second.pages, second.profiles.length, second.profiles[0]?.token], [2, 180, 50, 'token-9944'])
  t.equal(store.search({ page: 999 }).page, 500)
})

t.test('the store finds as many profiles as it may hold, always the latest, whichever process reads', async t => {
  const directory = makeFolder()
  const start = Date.now() - 100_000
  const open = () => storeIn(t, directory, { profiles: 100 }).store
  const [one, other] = [open(), open()]
  for (let index = 0; index < 700; index++) {
    // The second store writes a tenth of them: its segments are as old as several of the first one's.
    write(index % 10 === 0 ? other : one, `token-${index}`, { time: start + index })
    if (index < 100 || index % 7 !== 0) continue
    for (const store of [one, other]) store.flush()
    const latest = Array.from({ length: 100 }, (_, place) => `token-${index - place}`)
    for (const store of [one, other, open()]) {
      t.strictSame(tokensIn(store), latest)
      t.equal(store.search({}).total, 100)
      t.equal(store.find(`token-${index - 100}`), null)
    }
    const contents = readdirSync(directory).map(name => readFileSync(join(directory, name), 'utf8'))
    const lines = contents.reduce((sum, content) => sum + content.split('\n').length - 1, 0)
    t.ok(lines <= 100 + 3 * 12, `${lines} on disk`)
  }
})

t.test("ten thousand profiles with several queries each fit in the store's byte limit", async t => {
  const app = await profiledApp(t)
  const made = await profileOf(app, '/')
  const detail = 'select * from "museums" where "license_id" = $1 order by "name" limit 20'
  const spans = Array.from({ length: 30 }, () => ({ ...profile().spans[0], detail })) as typeof made.spans
  const size = Buffer.byteLength(serialise({ ...made, spans }, Infinity).join())
  t.ok((size * defaultStoreBounds.profiles * 9) / 8 < defaultStoreBounds.bytes, `${size} bytes each`)
})

t.test('expired profiles are not found, and are dropped at the next write', async t => {
  const { store, directory } = storeIn(t, makeFolder(), { age: 60_000 })
  write(store, 'old', { time: Date.now() - 120_000 })
  t.equal(store.find('old'), null)
  t.equal(store.search({}).total, 0)
  write(store, 'new', { time: Date.now() })
  t.equal(readdirSync(directory).length, 1)
  t.ok(store.find('new'))
})

t.test('an unwritable folder is logged once, and the latest profiles are kept in memory', async t => {
  const { lines, logger } = keptLines('warn')
  const directory = join(makeFolder({ file: 'in the way' }), 'file', 'profiles')
  const app = await profiledApp(t, { directory }, { logger })
  app.get('/', async () => 'ok')
  for (let request = 0; request < 60; request++) t.equal((await app.inject('/')).body, 'ok')
  t.equal((await app.profiler.search({})).total, 50)
  t.equal((await app.profiler.find('latest'))?.status, 200)
  t.equal(lines.filter(line => line.includes('cannot write')).length, 1)
})

t.test('profiles are written again once a file in the way is removed', async t => {
  const { store, complaints, directory } = storeIn(t, join(makeFolder({ profiles: 'in the way' }), 'profiles'))
  write(store, 'lost')
  write(store, 'lost too')
  t.equal(store.find('lost')?.token, 'lost')
  t.equal(complaints.length, 1)
  rmSync(directory)
  write(store, 'after')
  t.equal(store.find('after')?.token, 'after')
  t.match(readdirSync(directory).sort(), ['.gitignore', /^profiles-/])
})

t.test('corrupt records are skipped and logged once', async t => {
  const { store, directory } = storeIn(t)
  write(store, 'good')
  write(store, 'odd', { status: '200\n```\n# outside' as unknown as number })
  const summaryOf = (token: string) => summarise(profile({ time: Date.now(), token }))
  store.write(summaryOf('half'), ['{"version":3,', '[]'])
  store.write(summaryOf('other'), serialise(profile({ token: 'not it' }), Infinity))
  store.write(summaryOf('listless'), [serialise(profile({ token: 'listless' }), Infinity)[0], '{}'])
  store.close()
  const [name = ''] = readdirSync(directory)
  const bent = `{"token":"bent","parent":null,"time":${Date.now()},"duration"}`
  appendFileSync(join(directory, name), `no tab\n{broken\t{}\n{"token":1}\t{}\n${bent}\t{}\n{"token":"cut off`)
  const { store: reader, complaints } = storeIn(t, directory)
  t.equal(reader.search({}).total, 4)
  t.equal(reader.find('good')?.token, 'good')
  for (const token of ['half', 'listless', 'other', 'cut off', 'odd']) t.equal(reader.find(token), null)
  t.same(complaints, ['The profiler found a stored profile that cannot be read, and skips it'])
})

t.test('stored profiles are read while an application starts, so that no request waits for it', async t => {
  const { lines, logger } = keptLines('warn')
  const app = Fastify({ logger })
  t.teardown(() => app.close())
  const directory = makeFolder({ [`profiles-v${profileVersion}-0-0-0-0.ndjson`]: 'corrupt\n' })
  await app.register(profiler, { directory })
  t.same(lines, [])
  await app.ready()
  t.match(lines, [/found a stored profile that cannot be read/])
})

t.test('a profile larger than the shared buffer is stored', async t => {
  const { store } = storeIn(t)
  const notes = ['x'.repeat(300 * 1024)]
  write(store, 'large', { notes })
  t.same(store.find('large')?.notes, notes)
})

t.test('the size limit of a profile counts bytes, not characters', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 50_000 } })
  app.post('/', async () => 'ok')
  const payload = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, '語'.repeat(1000)]))
  const profile = await profileOf(app, { method: 'POST', url: '/', payload })
  t.match(profile.dropped, [{ what: 'values', why: 'A stored profile holds 50000 bytes.' }])
  t.ok(Buffer.byteLength(JSON.stringify(profile)) <= 50_000)
})

t.test('a profile that was shortened to its bytes names no listener whose span is left out', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 8000 } })
  for (let hook = 0; hook < 60; hook++) app.addHook('onRequest', async function check() {})
  app.get('/', async () => 'ok')
  const { dropped, lifecycle, spans } = await profileOf(app, '/')
  t.equal(dropped[0]?.what, 'spans')
  const listeners = lifecycle.flatMap(({ listeners }) => listeners)
  t.ok(listeners.length > 0 && listeners.length < 60, `${listeners.length} listeners`)
  t.ok(listeners.every(id => id < spans.length))
})

t.test('unexpected files and folders are logged once each', async t => {
  const { store, complaints, directory } = storeIn(t)
  write(store, 'one')
  write(store, 'two')
  store.flush()
  const [name = ''] = readdirSync(directory)
  truncateSync(join(directory, name), bytesIn(directory) - 100)
  t.ok(store.find('one'))
  t.equal(store.find('two'), null)
  rmSync(join(directory, name))
  mkdirSync(join(directory, name))
  mkdirSync(join(directory, 'profiles-v3-0-0-0.ndjson'))
  for (let time = 0; time < 2; time++) t.equal(store.find('one'), null)
  t.equal(store.find('other'), null)
  t.same(complaints, [
    'The profiler found a stored profile that cannot be read, and skips it',
    'The profiler cannot read a stored profile',
  ])
  const { store: reader, complaints: troubles } = storeIn(t, directory)
  t.equal(reader.search({}).total, 0)
  t.equal(reader.find('latest'), null)
  t.same(troubles, [], 'nothing is logged for those that are only passed by')
})

t.test('a profile has neighbours in time, except at either end', async t => {
  const { store } = storeIn(t)
  for (let index = 0; index < 3; index++) write(store, `token-${index}`)
  write(store, 'earlier', { time: Date.now() - 600_000 })
  for (const [token, previous, next] of [
    ['earlier', null, 'token-0'],
    ['token-0', 'earlier', 'token-1'],
    ['token-2', 'token-1', null],
    ['unknown', null, null],
  ] as const) {
    t.same(store.neighbours(token), { previous, next })
  }
})

t.test('a segment that cannot be deleted is logged once and left alone', async t => {
  const { store: first, directory: single } = storeIn(t, join(makeFolder(), 'one'))
  write(first, 'token-10')
  first.close()
  const size = bytesIn(single) - '*\n'.length
  // Two to a segment, plus one: the next write has to make room in the middle of a segment.
  // A little more, because the summaries of unexamined requests say so.
  const { store, complaints, directory } = storeIn(t, join(makeFolder(), 'others'), { bytes: size * 17.5 })
  for (let index = 10; index < 27; index++) write(store, `token-${index}`)
  store.flush()
  const [oldest = ''] = readdirSync(directory).filter(name => name.startsWith('profiles'))
  rmSync(join(directory, oldest))
  mkdirSync(join(directory, oldest))
  for (let index = 27; index < 50; index++) write(store, `token-${index}`)
  t.equal(store.find('token-27')?.token, undefined)
  for (const token of ['token-40', 'token-49']) t.equal(store.find(token)?.token, token)
  t.same(complaints, ['The profiler cannot delete a segment of its store, and ignores it'])
})

const removals: Record<string, (directory: string) => void> = {
  deleted: directory => rmSync(directory, { recursive: true }),
  'moved away': directory => renameSync(directory, `${directory}-moved`),
}

for (const [how, remove] of Object.entries(removals)) {
  t.test(`profiles and their configuration go to a new folder if theirs is ${how} while requests arrive`, async t => {
    const directory = join(makeFolder(), 'profiles')
    const app = await profiledApp(t, { directory })
    app.get('/', async () => 'ok')
    await app.inject('/')
    await everythingStored(app)
    remove(directory)
    for (let request = 0; request < 20; request++) await app.inject('/')
    await everythingStored(app)
    const { store, complaints } = storeIn(t, directory)
    t.equal(store.search({}).total, 20)
    t.ok(store.findConfiguration(store.find('latest')?.configuration ?? ''))
    t.same(complaints, [])
  })
}

t.test('a segment truncated from outside lists what is left of it and is not written to again', async t => {
  const { store, complaints, directory } = storeIn(t)
  const { store: other, complaints: others } = storeIn(t, directory)
  for (const token of ['one', 'two']) write(store, token)
  store.flush()
  t.same(tokensIn(other), ['two', 'one'])
  const [name = ''] = readdirSync(directory)
  truncateSync(join(directory, name), bytesIn(directory) - 100)
  t.same(tokensIn(other), ['one'])
  write(store, 'three')
  for (const reader of [store, other]) {
    t.same(tokensIn(reader), ['three', 'one'])
    for (const token of ['one', 'three']) t.equal(reader.find(token)?.token, token)
    t.equal(reader.find('two'), null)
  }
  truncateSync(join(directory, name), 0)
  for (const reader of [store, other]) t.same(tokensIn(reader), ['three'])
  t.same([...complaints, ...others], [])
})

t.test('two stores that fill one directory stay within its bounds, plus a segment each', async t => {
  const bytes = 800_000
  const { store: one, complaints, directory } = storeIn(t, makeFolder(), { bytes })
  const { store: other } = storeIn(t, directory, { bytes })
  for (let index = 0; index < 200; index++) {
    write(one, `one-${index}`)
    write(other, `other-${index}`)
    if (index % 20 === 0) t.ok(bytesIn(directory) <= bytes * (1 + 2 / 8), `${bytesIn(directory)} bytes`)
  }
  for (const store of [one, other]) store.flush()
  for (const store of [one, other]) {
    t.ok(store.find('one-199'))
    t.ok(store.find('other-199'))
    t.equal(store.find('one-0'), null)
  }
  t.same(complaints, [])
})

t.test('the latest configurations are kept, and no other file is mistaken for one', async t => {
  const { store, directory } = storeIn(t, makeFolder({ 'configuration-odd.json': '{"key":"even"}' }))
  for (let index = 10; index < 40; index++) store.writeConfiguration({ ...configuration, key: `key-${index}` })
  t.equal(store.findConfiguration('key-39')?.key, 'key-39')
  for (const key of ['key-10', '../key-39', 'odd']) t.equal(store.findConfiguration(key), null, key)
  t.equal(readdirSync(directory).length, 20)
})

t.test('without a directory in the options the store is a folder in the working directory', async t => {
  const before = process.cwd()
  process.chdir(makeFolder())
  t.teardown(() => process.chdir(before))
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(profiler)
  await app.inject('/')
  await everythingStored(app)
  t.match(readdirSync('.profiler').join(), /profiles-.*\.ndjson/)
  t.equal(readFileSync('.profiler/.gitignore', 'utf8'), '*\n', 'git ignores it')
})

t.test('store bounds without room for a profile are refused at registration', async t => {
  for (const [name, value] of [
    ['profiles', 0],
    ['bytes', -1],
    ['age', NaN],
    ['profiles', 0.5],
  ] as const) {
    const refusal = { message: `The profiler's "storeBounds.${name}" must be at least 1, not ${value}.` }
    await t.rejects(profiledApp(t, { storeBounds: { [name]: value } }), refusal)
  }
})
