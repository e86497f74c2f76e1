import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createRecord } from 'portico'
import { openTestSite } from 'portico/testing'
import { exhibitions } from './exhibitions.ts'
import { site } from './site.ts'

const museum = await openTestSite(site, { TICKET_SHOP: 'https://tickets.example' })
after(() => museum.close())
const doors = { museum_id: '1', title: 'Doors <of> the World', opens_at: '2027-01-31T09:00:00Z' }

test('the page lists the exhibitions', async () => {
  await createRecord(museum.db, museum.author, exhibitions, doors)
  const { body } = await museum.ask({ url: '/exhibitions?_locale=de', headers: { accept: 'text/html' } })
  assert.match(body, /Ausstellungen[^]*Doors &#60;of&#62; the World[^]*31\. Januar 2027, 30 Plätze/)
})

test('an exhibition has no more than 500 seats, by code and by the API', async () => {
  const admin = await museum.signIn()
  const payload = { ...doors, seats: 999_999 }
  const answer = await admin({ method: 'POST', url: '/api/exhibitions', payload })
  assert.equal(answer.json().detail, 'seats must be at most 500.')
  const message = 'seats must be at most 500.'
  await assert.rejects(createRecord(museum.db, museum.author, exhibitions, payload), { message })
})

test('robots stay outside', async () => {
  assert.equal((await museum.ask({ url: '/exhibitions', headers: { 'user-agent': 'Robot' } })).statusCode, 403)
})
