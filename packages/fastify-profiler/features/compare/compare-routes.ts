import type { FastifyInstance } from 'fastify'
import {
  type Answer,
  type Arguments,
  type AskedSources,
  features,
  type PageSources,
  type ProfileAction,
  type Question,
} from '../../core/feature.ts'
import type { Profile } from '../../core/profile.ts'
import { ofRoute, previousRequest } from '../home/like-requests.ts'
import type { ProfileArchive } from '../../core/store/profile-archive.ts'
import { perPageLimit } from '../../core/store/search.ts'
import { readSearch } from '../home/search-criteria.ts'
import type { ProfileSummary, SearchCriteria, SearchResult } from '../../core/summary.ts'
import { html } from '../../core/view/html.ts'
import { isSameOrigin, queryOf } from '../../core/view/page-guard.ts'
import { sendFormats } from '../../core/view/page.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { answerText, callText, findProfile, missingProfile, refusal, sectionFrom, tokenIn } from '../home/question.ts'
import { compareSets, renderSetComparisonMarkdown, renderSetComparisonPage, setSentence } from './compare-sets.ts'
import { compare } from './compare.ts'
import { comparisonUrl, renderComparisonMarkdown, renderComparisonPage, replays } from './comparison-page.ts'
import type { Comparison, Others } from './comparison.ts'
import { comparisonSentence, conclusionsOf } from './comparison-text.ts'

/** Leads to the comparison with the request that this one repeats, or with the previous one of its route. */
export const compareAction: ProfileAction = ({ isReplay, parent, token }, base, { previousOfRoute }) => {
  const [compared, label] =
    isReplay === true ? [parent, 'the original'] : [previousOfRoute, 'the previous of this route']
  return (
    compared !== null &&
    html`<a class="button" href="${comparisonUrl(base, compared, token)}">Compare with ${label}</a>`
  )
}

/** The comparison of two requests, and that of a route before a moment and since. */
export function compareRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, viewContext } = sources

  app.get<{ Params: { a: string; b: string } }>(`${base}/compare/:a/:b`, async function showComparison(request, reply) {
    const { params } = request
    const [a, b] = [await archive.find(params.a), await archive.find(params.b)]
    if (a === null || b === null) return sendUnknown(request, reply, a === null ? params.a : params.b, sources)
    const comparison = compare(a, b, await othersLike(archive, a, b))
    const context = viewContext(b)
    return sendFormats(request, reply, {
      html: () => renderComparisonPage(comparison, context),
      json: () => dataOf(comparison),
      markdown: () => renderComparisonMarkdown(comparison, context),
    })
  })

  app.post<{ Params: { a: string; b: string } }>(`${base}/compare/:a/:b`, async function replayB(request, reply) {
    if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    const { a, b } = request.params
    const profile = await archive.find(b)
    if (profile === null) return sendUnknown(request, reply, b, sources)
    for (let left = replays; left > 0; left--) {
      for (const { repeat } of features) {
        const replayed = await repeat?.(sources.app, profile)
        if (replayed instanceof Error) return reply.code(422).type('text/plain').send(`${replayed.message}\n`)
      }
    }
    return reply.redirect(comparisonUrl(base, a, b), 303)
  })

  app.get(`${base}/compare`, async function showSets(request, reply) {
    const query = queryOf(request)
    const [one, other, ...more] = query.getAll('request')
    if (one !== undefined && other !== undefined && more.length === 0) {
      // The list has the newest first.
      return reply.redirect(comparisonUrl(base, other, one), 302)
    }
    const route = query.get('route')
    const { method = 'GET', timeFrom: at } = readMoment(query.get('method'), query.get('at'))
    if (route === null || at === undefined) {
      const why = 'A comparison needs two requests. Tick two of these, or name a route and a moment.'
      return sendMissing(request, reply, { what: 'part', why }, sources)
    }
    const comparison = compareSets({ method, route, at }, await requestsAround(archive, { method, route }, at))
    return sendFormats(request, reply, {
      html: () => renderSetComparisonPage(comparison, base, sources.root),
      json: () => ({ sentence: setSentence(comparison), ...comparison }),
      markdown: () => renderSetComparisonMarkdown(comparison, base),
    })
  })
}

/** A method and a moment, as a search understands them. */
function readMoment(method: string | null, at: string | null): SearchCriteria {
  const query = new URLSearchParams({ method: method ?? 'GET', timeFrom: at ?? '' })
  return readSearch(query, { labels: [], panels: [] }).criteria
}

/** Of these, the nearest in time tell how much the times of a request vary by chance. */
const othersMost = 20

/**
 * The requests on each side of two that did the same as they: from its start up to the border as the earlier one, from
 * there on as the later one. The border is a restart of the application between them, else the earlier one itself.
 */
async function othersLike(archive: ProfileArchive, a: Profile, b: Profile): Promise<Others> {
  const [earlier, later] = a.time <= b.time ? [a, b] : [b, a]
  const border = Math.max(earlier.time, later.process.startedAt)
  const [before, since] = await Promise.all([
    archive.search({
      ...ofRoute(earlier),
      timeFrom: Math.floor(earlier.process.startedAt),
      timeTo: border,
      perPage: perPageLimit,
    }),
    archive.search({ ...ofRoute(later), timeFrom: border, perPage: perPageLimit }),
  ])
  const like = ({ database, status }: Profile, { profiles }: SearchResult) =>
    profiles
      .filter(({ token }) => token !== a.token && token !== b.token)
      .filter(other => other.status === status && other.queries.count === (database?.count ?? 0))
      .slice(0, othersMost)
  const [ofEarlier, ofLater] = [like(earlier, before), like(later, since)]
  return a === earlier ? { a: ofEarlier, b: ofLater } : { a: ofLater, b: ofEarlier }
}

/** The requests of a route before a moment and since: of each the nearest, as many as a search returns. */
async function requestsAround(
  archive: ProfileArchive,
  { method, route }: { method: string; route: string },
  at: number,
): Promise<ProfileSummary[]> {
  const criteria = { method, route: `=${route}`, perPage: perPageLimit }
  const [before, since] = await Promise.all([
    archive.search({ ...criteria, timeTo: at - 1 }),
    archive.search({ ...criteria, timeFrom: at, sort: 'oldest' }),
  ])
  return [...since.profiles.toReversed(), ...before.profiles]
}

/** Two requests, or a route before a moment and since. */
export const compareQuestion: Question = {
  name: 'compare',
  title: 'Compare requests',
  description:
    'Call after a change to see whether it helped: b is the token of a request since, a of one before (default: from ' +
    'before the last start). Or route and at, for all requests of a route before a moment and since. Says how sure ' +
    'it is: certain, seen (too few requests to tell) or equal.',
  parameters: {
    b: { type: 'string', description: 'The token of the later request, or "latest".' },
    a: {
      type: 'string',
      description: 'The token of the earlier request. Default: the newest of the route from before the last start.',
    },
    route: { type: 'string', description: 'The pattern of a route, instead of a and b: /carts/:id.' },
    method: { type: 'string', description: 'The method of the route. Default: GET.' },
    at: { type: 'string', description: 'The moment, such as 2026-11-22T09:30Z, with route.' },
    from: { type: 'integer', description: 'The line to go on at. Default: 0.', minimum: 0 },
  },
  required: [],
  command: {
    name: 'compare',
    takes: '[<a>] <b>',
    count: [0, 2],
    says: 'two requests, or b with the previous of its route',
    operands: operands => ({ a: operands.length > 1 ? operands[0] : undefined, b: operands.at(-1) }),
  },
  next: ({ routing, token }) =>
    routing.matched === null
      ? null
      : `Compared with the previous request of this route: ${callText({ tool: 'compare', arguments: { b: token } })}`,
  async answer(asked, sources) {
    const route = asked.text('route')
    if (route !== null) return compareRoute(route, asked, sources)
    const b = asked.text('b')
    return b === null
      ? refusal('compare needs b, the token of a request, or route and at.')
      : compareTwo(b, asked, sources)
  },
}

async function compareTwo(tokenOfB: string, asked: Arguments, sources: AskedSources): Promise<Answer> {
  const { archive } = sources
  const b = await findProfile(tokenOfB, sources)
  if (b === null) return missingProfile('b', asked, sources)
  const tokenOfA = asked.text('a') ?? (await previousRequest(archive, b))?.token ?? null
  if (tokenOfA === null) return refusal('There is no earlier request of this route. Name one as a.')
  const a = await archive.find(tokenIn(tokenOfA))
  if (a === null) return missingProfile('a', asked, sources)
  const comparison = compare(a, b, await othersLike(archive, a, b))
  const recorded = renderComparisonMarkdown(comparison, sources.viewContext(b))
  return framed(dataOf(comparison), recorded, asked, { a: a.token, b: b.token })
}

function dataOf(comparison: Comparison) {
  return { sentence: comparisonSentence(comparison), conclusions: conclusionsOf(comparison), ...comparison }
}

async function compareRoute(route: string, asked: Arguments, { archive, base }: AskedSources): Promise<Answer> {
  const { method, timeFrom: at } = readMoment(asked.text('method'), asked.text('at'))
  if (method === undefined || at === undefined) {
    return refusal('compare needs at, an ISO 8601 time such as 2026-11-22T09:30Z, and a known method.')
  }
  const comparison = compareSets({ method, route, at }, await requestsAround(archive, { method, route }, at))
  const data = { sentence: setSentence(comparison), ...comparison }
  return framed(data, renderSetComparisonMarkdown(comparison, base), asked, {})
}

function framed(data: { sentence: string }, recorded: string, asked: Arguments, fixed: object): Answer {
  const section = sectionFrom('compare', 'What changed', recorded, asked, fixed)
  return { text: answerText(`# ${data.sentence}`, [section], [], asked.tokens), data }
}
