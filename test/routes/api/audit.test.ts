import { sql } from 'kysely'
import t from 'tap'
import { auditedOf } from '../../../src/records/audit.ts'
import { kinds } from '../../../src/records/kinds.ts'
import { tokens } from '../../../src/records/tokens.ts'
import { addLicense, addLicenseType, addUser, signIn, startApi } from '../../support/site.ts'
import { commandsOn } from '../../support/run-command.ts'

const { database, db, app, license, adminId, visitor, ask, add, statusOf } = await startApi(t)
await addLicense(database, { domain: 'other.test' })
const type = await addLicenseType(database, 'standard')

/** The lines that a query finds. */
async function lines(query = '') {
  return (await ask('GET', `audit?${query}`)).json().items
}

/** The line that was written last. */
async function lastLine() {
  return (await lines('limit=1'))[0]
}

t.test('an added record has a line with who added it, when and the record', async t => {
  const record = await add('licenses', { domain: 'added.test', name: 'Added', type_id: type })
  const { id, at, ...line } = await lastLine()
  t.match(id, /^\d+$/)
  t.equal(at, record.created_at)
  t.strictSame(line, {
    user_id: adminId,
    token_id: null,
    actor: 'admin@museum.test',
    via: 'api',
    table: 'licenses',
    record_id: record.id,
    action: 'add',
    before: null,
    after: record,
  })
})

t.test('a line mentions a new password, and no line has a password or a hash', async t => {
  const payload = { email: 'secret@museum.test', password: 'four doors and an arch' }
  const { id } = await add('users', payload)
  await ask('PATCH', `users/${id}`, { payload: { password: 'five doors and an arch' } })
  t.match(await lastLine(), { action: 'change', before: { id, password: undefined }, after: { id, password: '(new)' } })
  await ask('DELETE', `users/${id}`)
  const kept = JSON.stringify((await sql`select * from audit`.execute(db)).rows)
  t.notMatch(kept, 'doors and an arch')
  t.notMatch(kept, 'argon2')
})

t.test('the tokens of a user who is removed have lines of their removal', async t => {
  const user = await addUser(database, { email: 'script@museum.test' })
  const { print } = commandsOn(database)
  await print('token add --user script@museum.test --name ci')
  t.equal(await statusOf('DELETE', `users/${user}`), 204)
  t.match(await lines('limit=2'), [
    { action: 'remove', table: 'users' },
    { action: 'remove', table: 'api_tokens', actor: 'admin@museum.test', before: { user: 'script@museum.test' } },
  ])
})

t.test('a user who is removed or gets another address stays in the lines with the address of that time', async t => {
  const payload = { email: 'leaver@museum.test', password: 'four doors and an arch', admin: true }
  const { id } = await add('users', payload)
  const cookie = await signIn(app, { host: 'museum.test', ...payload })
  await ask('POST', 'platforms', { payload: { name: 'left behind' }, cookie })
  await ask('PATCH', `users/${id}`, { payload: { email: 'gone@museum.test' } })
  await ask('DELETE', `users/${id}`)
  t.match(await lines(`user_id=${id}`), [{ actor: 'leaver@museum.test', user_id: id, table: 'platforms' }])
})

t.test('a change of no field has no line', async t => {
  const { id } = await add('licenses', { domain: 'same.test', name: 'Same', type_id: type })
  const before = await lastLine()
  for (const payload of [{}, { name: 'Same' }, { language_ids: [] }]) {
    t.equal(await statusOf('PATCH', `licenses/${id}`, { payload }), 200)
  }
  t.strictSame(await lastLine(), before)
})

t.test('a change that is refused has no line', async t => {
  const { id } = await add('platforms', { name: 'taken' })
  const before = await lastLine()
  for (const [method, path, payload, headers, status] of [
    ['POST', 'platforms', { name: 'taken' }, {}, 409],
    ['POST', 'museums', { license_id: '999999', name: 'Nowhere' }, {}, 422],
    ['POST', 'platforms', { name: '' }, {}, 400],
    ['PATCH', `platforms/${id}`, { name: 'new' }, { 'if-match': '"stale"' }, 412],
    ['PATCH', 'platforms/999999', { name: 'new' }, {}, 404],
    ['DELETE', `platforms/${id}`, undefined, { 'if-match': '"stale"' }, 412],
    ['DELETE', `license-types/${type}`, undefined, {}, 409],
    ['DELETE', `users/${adminId}`, undefined, {}, 409],
  ] as const) {
    const response = await ask(method, path, { headers, payload })
    t.equal(response.statusCode, status, response.body)
  }
  t.strictSame(await lastLine(), before)
})

t.test('a change whose line cannot be written is not made', async t => {
  const { id } = await add('platforms', { name: 'steady' })
  const before = (await ask('GET', 'platforms?sort=-id')).body
  await sql`alter table audit add constraint closed check (false) not valid`.execute(db)
  for (const [method, path, payload] of [
    ['POST', 'platforms', { name: 'another' }],
    ['PATCH', `platforms/${id}`, { name: 'changed' }],
    ['DELETE', `platforms/${id}`, undefined],
  ] as const) {
    t.equal(await statusOf(method, path, { payload }), 500)
  }
  await sql`alter table audit drop constraint closed`.execute(db)
  t.equal((await ask('GET', 'platforms?sort=-id')).body, before)
})

t.test('what goes with a removed license has lines, and so have the members of its groups', async t => {
  const gone = await add('licenses', { domain: 'gone.test', name: 'Gone', type_id: type })
  const museum = await add('museums', { license_id: gone.id, name: 'Gone Museum' })
  const groups = [
    await add('groups', { license_id: gone.id, name: 'Guards' }),
    await add('groups', { license_id: gone.id, name: 'Guides' }),
    await add('groups', { license_id: license, name: 'Stayers' }),
  ]
  const member = await add('users', {
    email: 'member@museum.test',
    password: 'four doors and an arch',
    group_ids: groups.map(({ id }) => id),
  })
  const { id: last } = await lastLine()
  t.equal(await statusOf('DELETE', `licenses/${gone.id}`), 204)
  const written = (await lines()).filter(({ id }: { id: string }) => BigInt(id) > BigInt(last))
  t.match(written, [
    { action: 'remove', table: 'licenses', before: gone, after: null, actor: 'admin@museum.test' },
    { action: 'remove', table: 'museums', before: museum },
    { action: 'remove', table: 'groups', before: groups[1] },
    { action: 'remove', table: 'groups', before: groups[0] },
    { action: 'change', table: 'users', before: member, after: { ...member, group_ids: [groups[2].id] } },
  ])
  t.equal(written.length, 5)
  t.strictSame((await ask('GET', `users/${member.id}`)).json(), written[4].after)
})

t.test('the audit knows everything that the database removes together with a record', async t => {
  const { rows } = await sql<{ name: string; table: string; column: string }>`
    select conname as name, conrelid::regclass::text as table, attname as column
    from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and confdeltype <> 'a'`.execute(db)
  const links = kinds.flatMap(kind => Object.values(kind.links))
  const known = auditedOf(kinds).flatMap(({ constraints }) =>
    Object.entries(constraints).flatMap(([name, { cascades }]) => (cascades === true ? [name] : [])),
  )
  const cascading = rows
    // A link to choose a password ends within an hour anyway.
    .filter(({ table }) => [...kinds, tokens, ...links].some(kind => kind.table === table))
    // The links of a record are in its line.
    .filter(({ table, column }) => !links.some(link => link.table === table && link.own === column))
    .map(({ name }) => name)
  t.strictSame(cascading.sort(), known.sort())
})

t.test('each filter leaves out other lines', async t => {
  await sql`
    insert into audit (at, user_id, actor, via, "table", record_id, action, before, after) values
    ('2001-01-31T22:00:00Z', 77, 'old@museum.test', 'command', 'museums', 77, 'change', '{"id":"77"}', '{"id":"77"}'),
    ('2001-02-01T00:00:00Z', 78, 'old@museum.test', 'api', 'groups', 78, 'remove', '{"id":"78"}', null)`.execute(db)
  for (const [query, found] of [
    ['table=museums&record_id=77', ['77']],
    ['record_id=77&table=groups', []],
    ['user_id=77', ['77']],
    ['user_id=78&via=api&action=remove', ['78']],
    ['user_id=78&via=command', []],
    ['user_id=78&action=add', []],
    ['at_until=2001-02-01', ['77']],
    ['at_until=2001-02-01T00:00:00.001Z', ['78', '77']],
    ['at_from=2001-02-01&at_until=2001-12-31', ['78']],
    ['actor=old@museum.test', ['78', '77']],
  ] as const) {
    t.strictSame(
      (await lines(query)).map(({ record_id: id }: { record_id: string }) => id),
      found,
      query,
    )
  }
  await sql`delete from audit where at < '2002-01-01'`.execute(db)
})

t.test('a line with a megabyte before and after is listed whole', async t => {
  const long = '\u0000".\\</script>'.repeat(80_000).replaceAll('\u0000', '\u0001')
  await sql`
    insert into audit (via, "table", record_id, action, before, after)
    values ('command', 'museums', 79, 'change', ${JSON.stringify({ long })}::jsonb,
      ${JSON.stringify({ long: { deep: [long] }, ['__proto__']: null })}::jsonb)`.execute(db)
  const [line] = await lines('record_id=79')
  t.equal(line.before.long, long)
  t.strictSame(line.after.long, { deep: [long] })
  await sql`delete from audit where record_id = 79`.execute(db)
})

t.test('only admins read the audit, at every licensed host', async t => {
  const nobody = await ask('GET', 'audit', { cookie: '' })
  t.match([nobody.statusCode, nobody.json().detail], [401, 'Sign in as an admin.'])
  t.equal(await statusOf('GET', 'audit', { cookie: visitor }), 403)
  const elsewhere = await signIn(app, { host: 'other.test', email: 'admin@museum.test' })
  const { statusCode, body } = await ask('GET', 'audit', { host: 'other.test', cookie: elsewhere })
  t.strictSame([statusCode, body], [200, (await ask('GET', 'audit')).body])
  t.equal(await statusOf('GET', 'audit', { host: 'nobody.test' }), 404)
})

t.test('no request changes or removes a line', async t => {
  const before = (await ask('GET', 'audit')).body
  const { id } = await lastLine()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const all = await ask(method, 'audit', { payload: {} })
    t.strictSame([all.statusCode, all.headers.allow], [405, 'GET'])
    t.equal(await statusOf(method, `audit/${id}`, { payload: {} }), 405)
  }
  t.equal((await ask('GET', 'audit')).body, before)
  t.strictSame((await ask('GET', `audit/${id}`)).json(), await lastLine())
})

t.test('every kind of record leaves a line for each thing that is done to it', async t => {
  const overrides: Record<string, object> = {
    license_types: { type: 'unusual' },
    licenses: { type_id: type, language_ids: [] },
    museums: { license_id: license },
    groups: { license_id: license },
    users: { group_ids: [] },
  }
  for (const { plural, table, examples } of kinds) {
    const path = plural.replaceAll(' ', '-')
    const added = await add(path, { ...examples.create, ...overrides[table] })
    const payload = { ...examples.change, ...('group_ids' in added && { group_ids: [], admin: true }) }
    const changed = (await ask('PATCH', `${path}/${added.id}`, { payload })).json()
    await ask('DELETE', `${path}/${added.id}`)
    t.match(await lines(`table=${table}&record_id=${added.id}`), [
      { action: 'remove', before: changed, after: null },
      { action: 'change', before: added, after: changed },
      { action: 'add', before: null, after: added },
    ])
  }
})
