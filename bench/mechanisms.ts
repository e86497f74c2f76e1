/** Compares each optimisation with the plain way, in µs of CPU. A small JSON answer takes 35 µs. */
import Negotiator from 'negotiator'
import { openDatabase } from '../src/database/database.ts'
import { prepareQuery } from '../src/database/prepared-queries.ts'
import { errorForm } from '../src/errors/error-answer.ts'
import { languageRanges } from '../src/http/negotiation.ts'
import { nameSession, SessionTokens } from '../src/sign-in/session-token.ts'
import { dropDatabase, environmentOf, makeDatabase } from './database.ts'
import { quantile } from './table.ts'

const rounds = 15
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const acceptLanguage = 'en-GB,en;q=0.9,de;q=0.8'
const types = ['application/problem+json', 'application/json', 'text/html', 'text/plain']

const bench = await makeDatabase(1)
const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = environmentOf(bench)
const database = await openDatabase({ databaseUrl, dataDir })
const { db } = database
const typeById = (id: string) => db.selectFrom('license_types').select(['id', 'type']).where('id', '=', id)
const prepared = prepareQuery(db, typeById)
const tokens = new SessionTokens(['secret'])
const session = {
  userId: '1',
  session: nameSession(),
  expires: Date.now(),
  remembered: false,
  fingerprint: nameSession(),
}
const token = tokens.sign(session, 'museum.test')
try {
  await compare(
    'Accept, remembered (memoize.ts)',
    20_000,
    () => errorForm(anew(accept)),
    () => plainForm(anew(accept)),
  )
  await compare(
    'Accept-Language, remembered (memoize.ts)',
    20_000,
    () => languageRanges(anew(acceptLanguage)),
    () => plainRanges(anew(acceptLanguage)),
  )
  await compare(
    'A session token, remembered',
    20_000,
    () => tokens.read(anew(token), 'museum.test'),
    () => tokens.verify(anew(token), 'museum.test'),
  )
  await compare(
    'A prepared query (prepared-queries.ts)',
    500,
    () => prepared('1'),
    () => typeById('1').execute(),
  )
} finally {
  await database.close()
  await dropDatabase(bench)
}

async function compare(name: string, times: number, act: () => unknown, plain: () => unknown): Promise<void> {
  const costs: number[] = []
  const plainCosts: number[] = []
  for (let round = 0; round < rounds; round++) {
    costs.push(await costOf(times, act))
    plainCosts.push(await costOf(times, plain))
  }
  console.log(
    name.padEnd(42),
    quantile(costs, 0.5).toFixed(2).padStart(7),
    'µs, plain',
    quantile(plainCosts, 0.5).toFixed(2).padStart(7),
  )
}

async function costOf(times: number, act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  for (let time = 0; time < times; time++) {
    const made = act()
    if (made instanceof Promise) await made
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

function plainForm(header: string): string | undefined {
  return new Negotiator({ headers: { accept: header } }).mediaType([...types])
}

function plainRanges(header: string): string[] {
  return new Negotiator({ headers: { 'accept-language': header } }).languages()
}

/** Makes a new string, as the HTTP parser does for each request. */
function anew(text: string): string {
  return Buffer.from(text).toString('latin1')
}
