import t from 'tap'
import { addLicenseType, startApi } from '../../support/site.ts'

const { database, ask } = await startApi(t)
const type = await addLicenseType(database, 'standard')
const add = (domain: string, fields: object = {}) =>
  ask('POST', 'licenses', { payload: { domain, name: 'New', type_id: type, ...fields } })

for (const [written, read] of [
  ['2027-01-31T13:00:00+01:00', '2027-01-31T12:00:00.000Z'],
  ['2028-02-29T23:59:59.999999Z', '2028-02-29T23:59:59.999Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999Z'],
] as const) {
  t.test(`${written} is a time, and read as ${read}`, async t => {
    const { id } = (await add(`time-${Date.parse(written)}.test`)).json()
    for (const field of ['valid_from', 'valid_until']) {
      const response = await ask('PATCH', `licenses/${id}`, {
        payload: { valid_from: null, valid_until: null, [field]: written },
      })
      t.equal(response.json()[field], read)
    }
  })
}

for (const value of [
  '2027-02-30T00:00:00Z',
  '2027-01-01T24:00:00Z',
  '10000-01-01T00:00:00Z',
  '2027-01-01T00:00:00+15:00',
  '2027-01-01T00:00:00',
  '２０２７-01-01T00:00:00Z',
  '2027-01-01T00:00:00Z\n',
  "2027-01-01T00:00:00Z'; drop table licenses; --",
  'infinity',
  '',
  'x'.repeat(10_000),
  1798761600,
  {},
]) {
  t.test(`${JSON.stringify(value).slice(0, 60)} is no time`, async t => {
    const response = await add('never.test', { valid_from: value })
    t.equal(response.statusCode, 400)
    const message = 'valid_from must be a time with its zone, such as 2027-01-31T12:00:00Z or 2027-01-31T13:00:00+01:00'
    t.match(response.json(), { detail: `${message}.`, errors: [{ field: 'valid_from', message }] })
  })
}

for (const [what, from, until] of [
  ['the same time in another zone', '2027-01-01T00:00:00Z', '2027-01-01T01:00:00+01:00'],
  ['earlier, although its text comes later', '2027-01-01T00:00:00-14:00', '2027-01-01T12:00:00Z'],
] as const) {
  t.test(`an end that is ${what} is refused, added or changed, together or alone`, async t => {
    const refusal = { errors: [{ field: 'valid_until', message: 'valid_until must be after valid_from' }] }
    const added = await add('order.test', { valid_from: from, valid_until: until })
    t.equal(added.statusCode, 400)
    t.match(added.json(), { detail: 'valid_until must be after valid_from.', ...refusal })
    const { id } = (await add('kept.test', { valid_from: from })).json()
    const before = (await ask('GET', `licenses/${id}`)).body
    for (const fields of [{ valid_until: until }, { valid_from: from, valid_until: until }]) {
      const changed = await ask('PATCH', `licenses/${id}`, { payload: fields })
      t.equal(changed.statusCode, 400)
      t.match(changed.json(), refusal)
    }
    t.equal((await ask('GET', `licenses/${id}`)).body, before)
    t.equal(
      (await ask('PATCH', `licenses/${id}`, { payload: { valid_from: null, valid_until: until } })).statusCode,
      200,
    )
    t.equal((await ask('PATCH', `licenses/${id}`, { payload: { valid_from: from } })).statusCode, 400)
  })
}
