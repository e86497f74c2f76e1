import t from 'tap'
import { formats } from '../../../src/records/validation.ts'
import { addLanguage, addLicense, addLicenseType, startApi } from '../../support/site.ts'

const names = [
  ...['Arsenal', 'arsenal two', 'Armoury', '100% Art', '1000 Arts', 'a_c', 'abc'],
  ...['\\back', '\\\\back', 'Éclat'],
]
const { database, license, admin, ask, add, valuesOf } = await startApi(t, {
  languages: ['en', 'sr-Latn'],
  museums: names,
})
await addLicense(database, { domain: 'museums.test', protected: true, type: 'short-term', museums: ['Louvre'] })
await addLicense(database, { domain: 'other.test', type: 'long-term' })

const list = async (path: string, cookie?: string) => await ask('GET', path, { cookie })

t.test('a list can be filtered by every field of its records', async t => {
  const type = await addLicenseType(database, 'short-term')
  const language = await addLanguage(database, 'en')
  await add('platforms', { name: 'kiosk' })
  for (const path of ['license-types', 'languages', 'platforms', 'licenses', 'museums', 'groups', 'users']) {
    const { items } = (await list(`${path}?limit=1`)).json()
    const fields = Object.entries(items[0]).filter(([, value]) => !Array.isArray(value) && value !== null)
    for (const [field, value] of fields) {
      const found = (await list(`${path}?${field}=${encodeURIComponent(String(value))}`)).json().items
      t.ok(
        found.some(({ id }: { id: string }) => id === items[0].id),
        `${path} by ${field}`,
      )
      t.ok(found.every((record: Record<string, unknown>) => record[field] === value))
    }
  }
  t.strictSame(await valuesOf(`licenses?type_id=${type}&protected=false`, 'domain'), [])
  t.strictSame(await valuesOf(`licenses?protected=true&type_id=${type}`, 'domain'), ['museums.test'])
  t.strictSame(await valuesOf(`licenses?language_id=${language}&id=${license}`, 'domain'), ['museum.test'])
  t.strictSame(await valuesOf('users?admin=false', 'email'), ['visitor@museum.test'])
})

t.test('a time can be asked for in any time zone', async t => {
  const [createdAt] = await valuesOf(`licenses?id=${license}`, 'created_at')
  const elsewhere = new Date(Date.parse(String(createdAt)) + 3_600_000).toISOString().replace('Z', '+01:00')
  t.strictSame(await valuesOf(`licenses?id=${license}&created_at=${encodeURIComponent(elsewhere)}`, 'id'), [license])
  t.strictSame(await valuesOf('licenses?created_at=1999-12-31T23:00:00Z', 'id'), [])
})

t.test('a field that may be null can be asked for null, by "none" or nothing', async t => {
  const until = new Date('2900-01-01T00:00:00Z')
  await addLicense(database, { name: 'Timed', domain: 'ending.test', valid_until: until, suspended: true })
  await addLicense(database, { name: 'Timed', domain: 'endless.test' })
  await addLicense(database, { name: 'Timed', domain: 'typeless.test', type: null })
  const domains = async (query: string) => await valuesOf(`licenses?name=Timed&sort=domain&${query}`, 'domain')
  for (const none of ['none', '']) {
    t.strictSame(await domains(`valid_until=${none}`), ['endless.test', 'typeless.test'])
    t.strictSame(await domains(`valid_from=${none}&suspended=true`), ['ending.test'])
    t.strictSame(await domains(`type_id=${none}`), ['typeless.test'])
    t.equal((await list(`licenses?name=Timed&limit=1&total=true&valid_until=${none}`)).json().total, 2)
  }
  t.strictSame(await domains('valid_until=2900-01-01T00:00:00Z'), ['ending.test'])
  await database.db.deleteFrom('licenses').where('name', '=', 'Timed').execute()
})

for (const [path, field, values] of [
  ['museums?name_prefix=ARS', 'name', ['Arsenal', 'arsenal two']],
  ['museums?name_prefix=arsenal%20', 'name', ['arsenal two']],
  ['museums?name_prefix=ars&name=Arsenal', 'name', ['Arsenal']],
  ['museums?name_prefix=senal', 'name', []],
  ['museums?name_prefix=100%25', 'name', ['100% Art']],
  ['museums?name_prefix=%25', 'name', []],
  ['museums?name_prefix=a_', 'name', ['a_c']],
  ['museums?name_prefix=%5C', 'name', ['\\back', '\\\\back']],
  ['museums?name_prefix=%5C%5C', 'name', ['\\\\back']],
  ['museums?name_prefix=%5C%25', 'name', []],
  ['museums?name_prefix=%C3%89c', 'name', ['Éclat']],
  ['licenses?domain_prefix=museum', 'domain', ['museum.test', 'museums.test']],
  ['licenses?domain_prefix=museum.', 'domain', ['museum.test']],
  ['licenses?domain_prefix=museum&protected=true', 'domain', ['museums.test']],
  ['license-types?type_prefix=long', 'type', ['long-term']],
  ['languages?code_prefix=SR', 'code', ['sr-Latn']],
  ['users?email_prefix=Admin%40', 'email', ['admin@museum.test']],
] as const) {
  t.test(`GET /api/${path} finds ${values.length === 0 ? 'nothing' : values.join(' and ')}`, async t => {
    t.strictSame(await valuesOf(path, field), values)
  })
}

for (const [path, message] of [
  ['museums?name_prefix=', 'name_prefix must not be empty'],
  [`museums?name_prefix=${'x'.repeat(256)}`, 'name_prefix must have at most 255 characters'],
  ['museums?name_prefix=a%00', 'name_prefix must be the beginning of one line of UTF-8 text'],
  ['museums?license_id_prefix=1', '"license_id_prefix" is not a known field'],
  ['licenses?protected=maybe', 'protected must be true or false'],
  ['museums?limit=0', 'limit must be at least 1'],
  ['museums?limit=201', 'limit must be at most 200'],
  ['museums?limit=1&limit=2', 'limit must be a whole number'],
  ['museums?sort=colour', 'sort must be one of id, -id, name, -name'],
  ['museums?colour=red', '"colour" is not a known field'],
  ['museums?license_id=0', `license_id must be ${formats.id.expects}`],
  ['licenses?created_at=yesterday', `created_at must be ${formats['date-time'].expects}`],
  ['users?password_hash=secret', '"password_hash" is not a known field'],
] as const) {
  t.test(`GET /api/${path.slice(0, 40)} is refused: ${message}`, async t => {
    const response = await list(path)
    t.strictSame([response.statusCode, response.json().detail], [400, `${message}.`])
  })
}

t.test('a list counts all its records only if asked to', async t => {
  const of = async (query: string, cookie = admin) => (await list(`museums?${query}`, cookie)).json()
  t.notHas(await of('limit=1'), 'total')
  t.notHas(await of('limit=1&total=false'), 'total')
  const { total, next } = await of('limit=1&total=true')
  t.equal(total, (await of('limit=200')).items.length)
  t.equal((await of(`limit=1&total=true&cursor=${next}`)).total, total)
  t.equal((await of('total=true&name_prefix=ars')).total, 2)
  t.match(await of('total=true&name=Nowhere'), { items: [], next: null, total: 0 })
  t.equal((await of('total=true', '')).total, names.length)
})

/** Reads a list in parts with at most so many records each. */
async function inParts(path: string, most: number) {
  const records: { name: string }[] = []
  for (let next: string | null = ''; next !== null;) {
    const cursor: string = next && `&cursor=${next}`
    const part: { items: typeof records; next: string | null } = (await list(`${path}&limit=${most}${cursor}`)).json()
    if (part.items.length > most) throw new Error(`A part has ${part.items.length} records.`)
    records.push(...part.items)
    next = part.next
  }
  return records
}

t.test('a list can be read in parts, in either order, with each record once', async t => {
  const names = ['a', 'B', 'b', 'ä', 'z', 'Z', '~', '1', '10', '2', 'twice', 'twice', 'twice', 'zz']
  const many = await addLicense(database, { domain: 'many.test', museums: names })
  for (const [filter, count] of [
    [`license_id=${many}`, names.length],
    ['name_prefix=ar', 3],
    [`license_id=${license}&name_prefix=ar`, 3],
  ] as const) {
    for (const sort of ['id', '-id', 'name', '-name']) {
      const whole = (await list(`museums?${filter}&sort=${sort}`)).json()
      t.equal(whole.next, null)
      const parts = await inParts(`museums?${filter}&sort=${sort}`, 2)
      t.strictSame(parts, whole.items)
      t.equal(parts.length, count)
    }
  }
  const [byName, reversed] = await Promise.all(
    ['name', '-name'].map(sort => valuesOf(`museums?license_id=${many}&sort=${sort}`, 'name')),
  )
  t.strictSame(byName, reversed?.reverse())
})

t.test('names are sorted by the numbers in them as people sort them, page by page in either order', async t => {
  const ordered = [
    ...['2 Doors', '10 Doors', '1000000000000 Doors', 'No. 1', 'No. 02', 'No. 2', 'No. 10', 'No. 10 b', 'No. 11'],
    ...['Room 1.9', 'Room 1.10', 'Room 2.0', `x${'1😀'.repeat(127)}`],
  ]
  const mixed = ordered.toSorted((one, other) => (one < other ? -1 : 1))
  const numbered = await addLicense(database, { domain: 'numbered.test', museums: mixed })
  for (const [sort, expected] of [
    ['name', ordered],
    ['-name', ordered.toReversed()],
  ] as const) {
    const parts = await inParts(`museums?license_id=${numbered}&sort=${sort}`, 3)
    t.strictSame(
      parts.map(({ name }) => name),
      expected,
    )
  }
})

t.test('licenses and groups are sorted by the numbers in their names, too', async t => {
  for (const name of ['Wing 10', 'Wing 9']) {
    await addLicense(database, { domain: `${name.replace(' ', '-').toLowerCase()}.test`, name })
    await add('groups', { license_id: license, name })
  }
  for (const path of ['licenses', 'groups']) {
    t.strictSame(await valuesOf(`${path}?name_prefix=wing&sort=name`, 'name'), ['Wing 9', 'Wing 10'])
  }
})
