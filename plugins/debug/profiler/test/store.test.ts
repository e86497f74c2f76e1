import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import Fastify from 'fastify'
import t from 'tap'
import profiler from '../index.ts'
import type { Profile } from '../base/profile.ts'
import { ProfileStore } from '../store/profile-store.ts'
import { defaultStoreBounds, type StoreBounds } from '../base/bounds.ts'
import { serialise, summarise } from '../store/profile-text.ts'
import { makeFolder } from './folder.ts'
import { everythingStored, onlyProfile, profiledApp } from './profiled-app.ts'

type Test = Parameters<typeof profiledApp>[0]

async function exampleProfile(t: Test): Promise<Profile> {
  const app = await profiledApp(t)
  app.get('/example/:id', async () => 'ok')
  await app.inject('/example/1')
  return onlyProfile(t, app, '/example/1')
}

function storeIn(directory: string, bounds: Partial<StoreBounds> = {}) {
  const complaints: string[] = []
  const store = new ProfileStore({
    directory,
    bounds: { ...defaultStoreBounds, ...bounds },
    complain: (_error, message) => {
      complaints.push(message)
    },
  })
  return { store, complaints }
}

function write(store: ProfileStore, profile: Profile, token: string, changes: Partial<Profile> = {}) {
  const changed = { ...profile, ...changes, token }
  store.write(summarise(changed), serialise(changed, Infinity))
}

const configuration = {
  versions: {},
  environment: null,
  settings: {},
  plugins: { name: 'application', duration: null, children: [] },
  routes: [],
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

t.test('a profile that is not stored has no samples', async t => {
  t.equal(storeIn(makeFolder(t)).store.findSamples('gone'), null)
})

t.test('a stored profile whose status is no number is skipped', async t => {
  const directory = makeFolder(t)
  const { store, complaints } = storeIn(directory)
  const profile = await exampleProfile(t)
  write(store, profile, 'changed', { status: '200\n```\n# outside' as unknown as number })
  t.equal(store.find('changed'), null)
  t.equal(complaints.length, 1)
})

t.test('profiles survive a restart', async t => {
  const directory = makeFolder(t)
  const first = await profiledApp(t, { directory })
  first.get('/', async () => 'ok')
  const { headers } = await first.inject('/')
  await first.close()
  const second = await profiledApp(t, { directory })
  const profile = await second.profiler.find(String(headers['x-debug-token']))
  t.equal(profile?.url, '/')
  t.ok(
    second.profiler.viewContext(profile ?? (await exampleProfile(t))).configuration,
    'with the configuration they ran under',
  )
})

t.test("two applications on one directory read each other's profiles as they are stored", async t => {
  const directory = makeFolder(t)
  const [one, other] = [await profiledApp(t, { directory }), await profiledApp(t, { directory })]
  for (const app of [one, other]) app.get('/', async () => 'ok')
  for (let round = 1; round <= 3; round++) {
    const { headers } = await one.inject('/')
    await one.profiler.settled()
    t.ok(await other.profiler.find(String(headers['x-debug-token'])))
    await other.inject('/')
    await other.profiler.settled()
    t.equal((await one.profiler.search({})).total, round * 2)
  }
})

t.test(
  'two processes write to one directory, and what one stored before it was killed is there for the other',
  async t => {
    const directory = makeFolder(t)
    const app = await profiledApp(t, { directory })
    app.get('/mine', async () => 'ok')
    const program = `
    import { writeSync } from 'node:fs'
    import Fastify from 'fastify'
    import profiler from 'fastify-profiler'
    const app = Fastify()
    await app.register(profiler, { directory: process.argv[1] })
    app.get('/its', async () => 'ok')
    for (;;) {
      const { headers } = await app.inject('/its')
      await app.profiler.settled()
      writeSync(1, headers['x-debug-token'] + '\\n')
    }
  `
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const tokens: string[] = []
    for await (const token of createInterface(child.stdout)) {
      tokens.push(token)
      if (tokens.length < 50) await app.inject('/mine')
      else child.kill('SIGKILL')
    }
    t.equal((await app.profiler.search({ url: '/mine' })).total, 49)
    t.ok(tokens.length >= 50)
    for (const token of tokens) t.equal((await app.profiler.find(token))?.url, '/its')
  },
)

t.test('a burst of profiles is written together, within moments', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const { store } = storeIn(directory)
  const { store: reader } = storeIn(directory)
  write(store, profile, 'first')
  t.ok(reader.find('first'), 'a single profile is written at once')
  for (let index = 0; index < 5; index++) write(store, profile, `token-${index}`)
  t.equal(reader.search({}).total, 1)
  while (reader.search({}).total < 6) await new Promise(setImmediate)
  t.ok(reader.find('token-4'))
  store.close()
})

t.test('a process that exits during a burst leaves all its profiles', async t => {
  const directory = makeFolder(t)
  const program = `
    import Fastify from 'fastify'
    import profiler from 'fastify-profiler'
    const app = Fastify()
    await app.register(profiler, { directory: process.argv[1] })
    app.get('/its', async () => 'ok')
    await Promise.all(Array.from({ length: 30 }, () => app.inject('/its')))
    setImmediate(() => setImmediate(() => process.exit()))
  `
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program, directory], {
    stdio: 'inherit',
  })
  t.equal(status, 0)
  const app = await profiledApp(t, { directory })
  t.equal((await app.profiler.search({ url: '/its' })).total, 30)
})

for (const [how, route] of [
  ['exits', 'process.exit()'],
  ['dies of an error', "setTimeout(() => { throw new Error('from nowhere') })"],
] as const) {
  t.test(`a request during which the process ${how} has a profile`, async t => {
    const directory = makeFolder(t)
    const program = `
      import Fastify from 'fastify'
      import profiler from 'fastify-profiler'
      const app = Fastify()
      await app.register(profiler, { directory: process.argv[1] })
      app.get('/fatal', () => { ${route} })
      await app.inject('/fatal')
    `
    spawnSync(process.execPath, ['--input-type=module', '--eval', program, directory], { stdio: 'ignore' })
    const app = await profiledApp(t, { directory })
    const { profiles } = await app.profiler.search({})
    t.match(profiles, [{ url: '/fatal', outcome: 'unfinished', status: null }])
  })
}

t.test('other users of the machine cannot read profiles', async t => {
  const profile = await exampleProfile(t)
  const directory = join(makeFolder(t), 'profiles')
  const { store } = storeIn(directory)
  store.writeConfiguration({ ...configuration, key: 'key' })
  write(store, profile, 'one')
  t.equal(statSync(directory).mode & 0o777, 0o700)
  for (const name of readdirSync(directory)) t.equal(statSync(join(directory, name)).mode & 0o777, 0o600)
  store.close()
})

t.test('profiles of another version are ignored, and removed at the next write', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t, { 'profiles-0-0-0.ndjson': 'of old', 'profiles-v2-0-0-0.ndjson': 'of another' })
  const { store, complaints } = storeIn(directory)
  t.equal(store.search({}).total, 0)
  write(store, profile, 'one')
  t.equal(readdirSync(directory).length, 1)
  t.same(complaints, [])
  store.close()
})

t.test('ten thousand profiles are searched by every field', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const { store } = storeIn(directory, { profiles: 20_000 })
  const start = Date.now() - 10_000
  for (let index = 0; index < 10_000; index++) {
    write(store, profile, `token-${index}`, {
      time: start + index,
      duration: index,
      status: index % 10 === 0 ? 404 : 200,
      url: `/page/${index}`,
      method: index % 2 === 0 ? 'GET' : 'POST',
      host: index % 3 === 0 ? 'one.test' : 'two.test',
      labels: { license: index % 5 === 0 ? 'Louvre' : 'Prado' },
    })
  }
  const searches = [
    [{}, 10_000],
    [{ token: 'token-77' }, 1],
    [{ method: 'post' }, 5000],
    [{ status: '404' }, 1000],
    [{ status: '4xx' }, 1000],
    [{ status: '>=400' }, 1000],
    [{ status: '<300' }, 9000],
    [{ status: '<= 200' }, 9000],
    [{ status: '>404' }, 0],
    [{ status: 'none' }, 0],
    [{ status: 'odd' }, 0],
    [{ url: '/PAGE/123' }, 11],
    [{ route: '/example/:id' }, 10_000],
    [{ host: 'one' }, 3334],
    [{ ip: '127.' }, 10_000],
    [{ durationFrom: 9000, durationTo: 9009 }, 10],
    [{ timeFrom: start + 5, timeTo: start + 9 }, 5],
    [{ labels: { license: 'louvre' } }, 2000],
    [{ labels: { none: 'such' } }, 0],
    [{ status: '4xx', labels: { license: 'Louvre' }, host: 'one' }, 334],
  ] as const
  for (const [criteria, total] of searches) {
    t.equal(store.search(criteria).total, total, JSON.stringify(criteria))
  }
  const second = store.search({ page: 2, perPage: 50, status: '200' })
  t.same([second.page, second.pages, second.profiles.length, second.profiles[0]?.token], [2, 180, 50, 'token-9944'])
  t.equal(store.search({ page: 999 }).page, 500)
  store.close()
})

t.test('the store stays within its bounds by dropping the oldest profiles', async t => {
  const profile = await exampleProfile(t)
  for (const bounds of [{ profiles: 100 }, { bytes: 200_000 }]) {
    const directory = makeFolder(t)
    const { store } = storeIn(directory, bounds)
    for (let index = 0; index < 1000; index++) {
      write(store, profile, `token-${index}`)
      if (index % 50 === 0) t.ok(bytesIn(directory) <= (bounds.bytes ?? Infinity))
    }
    const { total } = store.search({})
    t.ok(bounds.profiles === undefined ? total >= 20 && total < 1000 : total === bounds.profiles, `${total} profiles`)
    t.equal(store.find('token-0'), null)
    t.equal(store.find('token-999')?.token, 'token-999')
    store.close()
  }
})

t.test('the store finds as many profiles as it may hold, always the latest, whichever process reads', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const start = Date.now() - 100_000
  const stores = [storeIn(directory, { profiles: 100 }), storeIn(directory, { profiles: 100 })].map(
    ({ store }) => store,
  )
  const [one, other] = stores
  if (one === undefined || other === undefined) return t.fail()
  for (let index = 0; index < 700; index++) {
    // The second store writes a tenth of them: its segments are as old as several of the first one's.
    write(index % 10 === 0 ? other : one, profile, `token-${index}`, { time: start + index })
    if (index < 100 || index % 7 !== 0) continue
    for (const store of stores) store.flush()
    const { store: late } = storeIn(directory, { profiles: 100 })
    for (const store of [one, other, late]) {
      const { profiles, total } = store.search({ perPage: 200 })
      t.equal(total, 100)
      t.strictSame(
        profiles.map(({ token }) => token),
        Array.from({ length: 100 }, (_, place) => `token-${index - place}`),
      )
      t.equal(store.find(`token-${index - 100}`), null)
    }
    const lines = readdirSync(directory).reduce(
      (sum, name) => sum + readFileSync(join(directory, name), 'utf8').split('\n').length - 1,
      0,
    )
    t.ok(lines <= 100 + 3 * 12, `${lines} on disk`)
  }
  for (const store of stores) store.close()
})

t.test("ten thousand profiles with several queries each fit in the store's byte limit", async t => {
  const profile = await exampleProfile(t)
  const size = Buffer.byteLength(serialise(profile, Infinity).join())
  const spans = Array.from({ length: 30 }, () => ({
    ...profile.spans[0],
    detail: 'select * from "museums" where "license_id" = $1 order by "name" limit 20',
  }))
  const large = Buffer.byteLength(serialise({ ...profile, spans: spans as typeof profile.spans }, Infinity).join())
  t.comment(`${size} bytes, with thirty queries ${large}`)
  t.ok((large * defaultStoreBounds.profiles * 9) / 8 < defaultStoreBounds.bytes)
})

t.test('expired profiles are not found, and are dropped at the next write', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const { store } = storeIn(directory, { age: 60_000 })
  write(store, profile, 'old', { time: Date.now() - 120_000 })
  t.equal(store.find('old'), null)
  t.equal(store.search({}).total, 0)
  write(store, profile, 'new', { time: Date.now() })
  t.equal(readdirSync(directory).length, 1)
  t.ok(store.find('new'))
  store.close()
})

t.test('an unwritable folder is logged once, and the latest profiles are kept in memory', async t => {
  const lines: string[] = []
  const directory = join(makeFolder(t, { file: 'in the way' }), 'file', 'profiles')
  const app = await profiledApp(
    t,
    { directory },
    {
      logger: {
        level: 'warn',
        stream: new Writable({
          write(line, _encoding, done) {
            lines.push(String(line))
            done()
          },
        }),
      },
    },
  )
  app.get('/', async () => 'ok')
  for (let request = 0; request < 60; request++) t.equal((await app.inject('/')).body, 'ok')
  t.equal((await app.profiler.search({})).total, 50)
  t.equal((await app.profiler.find('latest'))?.status, 200)
  t.equal(lines.filter(line => line.includes('cannot write')).length, 1)
})

t.test('profiles are written again once a file in the way is removed', async t => {
  const profile = await exampleProfile(t)
  const directory = join(makeFolder(t, { profiles: 'in the way' }), 'profiles')
  const { store, complaints } = storeIn(directory)
  write(store, profile, 'lost')
  write(store, profile, 'lost too')
  t.equal(store.find('lost')?.token, 'lost')
  t.equal(complaints.length, 1)
  rmSync(directory)
  write(store, profile, 'after')
  t.equal(store.find('after')?.token, 'after')
  t.match(readdirSync(directory).sort(), ['.gitignore', /^profiles-/])
  store.close()
})

t.test('corrupt records are skipped and logged once', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const { store } = storeIn(directory)
  write(store, profile, 'good')
  store.write(summarise({ ...profile, token: 'half' }), ['{"version":3,', '[]'])
  store.write(summarise({ ...profile, token: 'other' }), serialise({ ...profile, token: 'not it' }, Infinity))
  const [rest] = serialise({ ...profile, token: 'listless' }, Infinity)
  store.write(summarise({ ...profile, token: 'listless' }), [rest, '{}'])
  store.close()
  const [name = ''] = readdirSync(directory)
  appendFileSync(join(directory, name), 'no tab\n{broken\t{}\n{"token":1}\t{}\n{"token":"cut off')
  const { store: reader, complaints } = storeIn(directory)
  t.equal(reader.search({}).total, 4)
  t.equal(reader.find('good')?.token, 'good')
  t.equal(reader.find('half'), null)
  t.equal(reader.find('listless'), null)
  t.equal(reader.find('other'), null)
  t.equal(reader.find('cut off'), null)
  t.same(complaints, ['The profiler found a stored profile that cannot be read, and skips it'])
})

t.test('a folder deleted under a running process is created again', async t => {
  const profile = await exampleProfile(t)
  const directory = join(makeFolder(t), 'profiles')
  const { store, complaints } = storeIn(directory)
  write(store, profile, 'one')
  rmSync(directory, { recursive: true })
  t.equal(store.find('one'), null)
  write(store, profile, 'two')
  t.equal(store.find('two')?.token, 'two')
  t.same(complaints, [])
  store.close()
})

t.test('a profile larger than the shared buffer is stored', async t => {
  const profile = await exampleProfile(t)
  const { store } = storeIn(makeFolder(t))
  const notes = ['x'.repeat(300 * 1024)]
  write(store, profile, 'large', { notes })
  t.same(store.find('large')?.notes, notes)
  store.close()
})

t.test('the size limit of a profile counts bytes, not characters', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 50_000 } })
  app.post('/', async () => 'ok')
  await app.inject({
    method: 'POST',
    url: '/',
    payload: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, '語'.repeat(1000)])),
  })
  const profile = await onlyProfile(t, app, '/')
  t.match(profile.dropped, [{ what: 'values', why: 'A stored profile holds 50000 bytes.' }])
  t.ok(Buffer.byteLength(JSON.stringify(profile)) <= 50_000)
})

t.test('a profile that was shortened to its bytes names no listener whose span is left out', async t => {
  const app = await profiledApp(t, { profileBounds: { bytes: 8000 } })
  for (let hook = 0; hook < 60; hook++) app.addHook('onRequest', async function check() {})
  app.get('/', async () => 'ok')
  await app.inject('/')
  const { dropped, lifecycle, spans } = await onlyProfile(t, app, '/')
  t.equal(dropped[0]?.what, 'spans')
  const listeners = lifecycle.flatMap(({ listeners }) => listeners)
  t.ok(listeners.length > 0 && listeners.length < 60, `${listeners.length} listeners`)
  t.ok(listeners.every(id => id < spans.length))
})

t.test(
  "a hundred thousand queries and a body of 100 MB stay within a profile's bounds, and the rest is reported",
  { timeout: 60_000 },
  async t => {
    const directory = makeFolder(t)
    const app = await profiledApp(t, { directory, profileBounds: { bytes: 200_000 } }, { bodyLimit: 200 * 1024 * 1024 })
    app.post('/', async request => {
      for (let query = 0; query < 100_000; query++) {
        request.recorder?.span({ kind: 'query', name: 'select', detail: 'select '.repeat(20) }).end()
      }
      return 'ok'
    })
    const payload = JSON.stringify({ text: 'x'.repeat(100 * 1024 * 1024) })
    const response = await app.inject({
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'application/json' },
      payload,
    })
    t.equal(response.statusCode, 200)
    const profile = await onlyProfile(t, app, '/')
    t.ok(JSON.stringify(profile).length <= 200_000)
    t.equal(profile.request.bodySize, payload.length)
    const spans = profile.dropped.filter(({ what }) => what === 'spans').reduce((sum, { count }) => sum + count, 0)
    t.equal(spans + profile.spans.length, 100_001, 'every span is kept or counted')
    t.match(JSON.stringify(profile.request.body), 'characters')
  },
)

// The system also signals that a file has grown too large. A listener keeps that from ending the process.
process.on('SIGXFSZ', () => {})

/** Limits the size of files that this process may write, to simulate a full disk at a place of our choosing. */
function limitFiles(bytes: number | 'unlimited'): boolean {
  return spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]).status === 0
}

t.test(
  'a disk that fills up during a write only costs that profile its place on disk',
  { skip: !limitFiles('unlimited') },
  async t => {
    const profile = await exampleProfile(t)
    const directory = makeFolder(t)
    const { store, complaints } = storeIn(directory)
    write(store, profile, 'before')
    const before = bytesIn(directory)
    t.teardown(() => limitFiles('unlimited'))
    limitFiles(before + 1000)
    write(store, profile, 'lost')
    store.flush()
    t.equal(bytesIn(directory), before, 'no partial line remains')
    limitFiles(1000)
    for (let index = 0; index < 5; index++) {
      write(store, profile, `lost ${index}`)
      store.flush()
    }
    limitFiles('unlimited')
    t.equal(bytesIn(directory), before)
    t.ok(readdirSync(directory).length <= 2, 'failures do not each create a file')
    write(store, profile, 'after')
    store.flush()
    limitFiles(1000)
    write(store, profile, 'lost again')
    store.flush()
    limitFiles('unlimited')
    store.close()
    t.same(complaints, ['The profiler cannot write profiles, and keeps only the newest in memory'])
    t.equal(store.search({}).total, 9)
    const { store: reader, complaints: troubles } = storeIn(directory)
    t.same(
      reader
        .search({})
        .profiles.map(({ token }) => token)
        .sort(),
      ['after', 'before'],
    )
    t.same(troubles, [])
  },
)

t.test('a disk that fills up again is logged again', { skip: !limitFiles('unlimited') }, async t => {
  const profile = await exampleProfile(t)
  const { store, complaints } = storeIn(makeFolder(t))
  t.teardown(() => limitFiles('unlimited'))
  const now = Date.now()
  const writeAt = (minutes: number, token: string, limit: number | 'unlimited') => {
    t.intercept(Date, 'now', { value: () => now + minutes * 60_000 })
    limitFiles(limit)
    write(store, profile, token)
    store.flush()
  }
  writeAt(0, 'lost', 0)
  writeAt(2, 'stored', 'unlimited')
  writeAt(3, 'lost again', 0)
  t.equal(complaints.length, 2)
  limitFiles('unlimited')
  store.close()
})

t.test('a full disk never affects the request', { skip: !limitFiles('unlimited') }, async t => {
  const lines: string[] = []
  const app = await profiledApp(
    t,
    {},
    {
      logger: {
        level: 'warn',
        stream: {
          write(line: string) {
            lines.push(line)
          },
        },
      },
    },
  )
  app.get('/', async () => 'ok')
  await app.ready()
  t.teardown(() => limitFiles('unlimited'))
  limitFiles(0)
  for (let request = 0; request < 3; request++) t.equal((await app.inject('/')).body, 'ok')
  await everythingStored(app)
  t.equal((await app.profiler.search({})).total, 3)
  limitFiles('unlimited')
  t.equal(lines.filter(line => line.includes('cannot write')).length, 1)
})

t.test('unexpected files and folders are logged once each', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const { store, complaints } = storeIn(directory)
  write(store, profile, 'one')
  write(store, profile, 'two')
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
  store.close()
  const { store: reader, complaints: troubles } = storeIn(directory)
  t.equal(reader.search({}).total, 0)
  t.equal(reader.find('latest'), null)
  t.same(troubles, [], 'nothing is logged for those that are only passed by')
})

t.test('an unreadable segment is logged once', async t => {
  const profile = await exampleProfile(t)
  // A place that an unprivileged user can reach.
  const directory = mkdtempSync(join(tmpdir(), 'profiles-'))
  t.teardown(() => {
    rmSync(directory, { recursive: true })
  })
  chmodSync(directory, 0o755)
  const { store } = storeIn(directory)
  write(store, profile, 'one')
  store.close()
  const [name = ''] = readdirSync(directory)
  chmodSync(join(directory, name), 0)
  const { store: reader, complaints } = storeIn(directory)
  const user = process.geteuid?.() ?? 0
  if (user === 0) process.seteuid?.(65534)
  t.teardown(() => {
    process.seteuid?.(user)
  })
  for (let time = 0; time < 2; time++) t.equal(reader.search({}).total, 0)
  process.seteuid?.(user)
  t.same(complaints, ['The profiler cannot read a segment of its store'])
})

t.test('folders and pipes named like segments stop neither writing nor reading', { timeout: 20_000 }, async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  for (const name of ['profiles-v3-0-0-0.ndjson', 'configuration-0.json']) mkdirSync(join(directory, name))
  for (const name of ['profiles-v3-0-0-1.ndjson', 'profiles-v3-z-0-0.ndjson']) {
    spawnSync('mkfifo', [join(directory, name)])
  }
  const { store, complaints } = storeIn(directory, { profiles: 20 })
  store.writeConfiguration({ ...configuration, key: 'key' })
  spawnSync('mkfifo', [join(directory, 'configuration-pipe.json')])
  t.equal(store.findConfiguration('pipe'), null)
  for (let index = 0; index < 30; index++) write(store, profile, `token-${index}`)
  appendFileSync(join(directory, 'profiles-v3-0-0-2.ndjson'), '')
  t.equal(store.find('latest')?.token, 'token-29')
  t.ok(store.search({}).total <= 20)
  t.same(complaints, [])
  store.close()
})

t.test('a profile has neighbours in time, except at either end', async t => {
  const profile = await exampleProfile(t)
  const { store } = storeIn(makeFolder(t))
  for (let index = 0; index < 3; index++) write(store, profile, `token-${index}`)
  write(store, profile, 'earlier', { time: profile.time - 1000 })
  t.same(
    ['earlier', 'token-0', 'token-2', 'unknown'].map(token => store.neighbours(token)),
    [
      { previous: null, next: 'token-0' },
      { previous: 'earlier', next: 'token-1' },
      { previous: 'token-1', next: null },
      { previous: null, next: null },
    ],
  )
  store.close()
})

t.test('a segment that cannot be deleted is logged once and left alone', async t => {
  const profile = await exampleProfile(t)
  const { store: first } = storeIn(join(makeFolder(t), 'one'))
  write(first, profile, 'token-10')
  first.close()
  const size = bytesIn(join(t.testdirName, 'one')) - '*\n'.length
  const directory = join(t.testdirName, 'others')
  // Two to a segment, plus one: the next write has to make room in the middle of a segment.
  const { store, complaints } = storeIn(directory, { bytes: size * 17 })
  for (let index = 10; index < 27; index++) write(store, profile, `token-${index}`)
  store.flush()
  const [oldest = ''] = readdirSync(directory).filter(name => name.startsWith('profiles'))
  rmSync(join(directory, oldest))
  mkdirSync(join(directory, oldest))
  for (let index = 27; index < 50; index++) write(store, profile, `token-${index}`)
  t.equal(store.find('token-27')?.token, undefined)
  for (const token of ['token-40', 'token-49']) t.equal(store.find(token)?.token, token)
  t.same(complaints, ['The profiler cannot delete a segment of its store, and ignores it'])
  store.close()
})

for (const [how, remove] of [
  [
    'deleted',
    (directory: string) => {
      rmSync(directory, { recursive: true })
    },
  ],
  [
    'moved away',
    (directory: string) => {
      renameSync(directory, `${directory}-moved`)
    },
  ],
] as const) {
  t.test(
    `profiles and their configuration are stored in a new folder if theirs is ${how} while requests arrive`,
    async t => {
      const directory = join(makeFolder(t), 'profiles')
      const app = await profiledApp(t, { directory })
      app.get('/', async () => 'ok')
      await app.inject('/')
      await everythingStored(app)
      remove(directory)
      for (let request = 0; request < 20; request++) await app.inject('/')
      await everythingStored(app)
      const { store, complaints } = storeIn(directory)
      const { profiles, total } = store.search({})
      t.equal(total, 20)
      const profile = store.find(profiles[0]?.token ?? '')
      t.ok(profile)
      t.ok(store.findConfiguration(profile?.configuration ?? ''))
      t.same(complaints, [])
    },
  )
}

t.test('a segment truncated from outside lists what is left of it and is not written to again', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const [{ store, complaints }, { store: other, complaints: others }] = [storeIn(directory), storeIn(directory)]
  const tokens = (reader: ProfileStore) => reader.search({}).profiles.map(({ token }) => token)
  for (const token of ['one', 'two']) write(store, profile, token)
  store.flush()
  t.same(tokens(other), ['two', 'one'])
  const [name = ''] = readdirSync(directory)
  truncateSync(join(directory, name), bytesIn(directory) - 100)
  t.same(tokens(other), ['one'])
  write(store, profile, 'three')
  for (const reader of [store, other]) {
    t.same(tokens(reader), ['three', 'one'])
    for (const token of ['one', 'three']) t.equal(reader.find(token)?.token, token)
    t.equal(reader.find('two'), null)
  }
  truncateSync(join(directory, name), 0)
  for (const reader of [store, other]) t.same(tokens(reader), ['three'])
  t.same([...complaints, ...others], [])
  store.close()
})

t.test('an empty file left by another process is removed', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t, { 'profiles-v3-0-0-0.ndjson': '' })
  const { store } = storeIn(directory)
  write(store, profile, 'one')
  t.equal(readdirSync(directory).length, 1)
  store.close()
})

t.test('two stores that fill one directory stay within its bounds, plus a segment each', async t => {
  const profile = await exampleProfile(t)
  const directory = makeFolder(t)
  const bytes = 400_000
  const { store: one, complaints } = storeIn(directory, { bytes })
  const { store: other } = storeIn(directory, { bytes })
  for (let index = 0; index < 200; index++) {
    write(one, profile, `one-${index}`)
    write(other, profile, `other-${index}`)
    if (index % 20 === 0) t.ok(bytesIn(directory) <= bytes * (1 + 2 / 8), `${bytesIn(directory)} bytes`)
  }
  for (const store of [one, other]) store.flush()
  for (const store of [one, other]) {
    t.ok(store.find('one-199'))
    t.ok(store.find('other-199'))
    t.equal(store.find('one-0'), null)
  }
  t.same(complaints, [])
  for (const store of [one, other]) store.close()
})

t.test('the latest configurations are kept, and no other file is mistaken for one', async t => {
  const directory = makeFolder(t, { 'configuration-odd.json': '{"key":"even"}' })
  const { store } = storeIn(directory)
  for (let index = 10; index < 40; index++) store.writeConfiguration({ ...configuration, key: `key-${index}` })
  t.equal(store.findConfiguration('key-39')?.key, 'key-39')
  for (const key of ['key-10', '../key-39', 'odd']) t.equal(store.findConfiguration(key), null, key)
  t.equal(readdirSync(directory).length, 20)
})

t.test('without a directory in the options the store is a folder in the working directory', async t => {
  const before = process.cwd()
  process.chdir(makeFolder(t))
  t.teardown(() => {
    process.chdir(before)
  })
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
