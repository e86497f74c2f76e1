import type { FastifyInstance } from 'fastify'
import type { Profile } from '../../core/profile.ts'
import { type Block, blocksHtml, blocksMarkdown } from '../../core/view/block.ts'
import { noPlace } from '../../core/view/elements.ts'
import { html } from '../../core/view/html.ts'
import { isSameOrigin } from '../../core/view/page-guard.ts'
import type { PageSources, ProfileAction, Question } from '../../core/feature.ts'
import { renderPage, sendFormats } from '../../core/view/page.ts'
import { count } from '../../core/view/units.ts'
import { profileUrl, urlPart } from '../../core/urls.ts'
import { curlCommand } from '../request/sent-request.ts'
import { sendUnknown } from '../home/not-found-page.ts'
import { answerText, callText, missingProfile, refusal, tokenIn } from '../home/question.ts'
import { profilesMarkdown } from '../home/search-page.ts'
import { isRepeatable, NotRepeatable } from './repeatable-request.ts'
import { repeat } from './replay.ts'

export const replayAction: ProfileAction = ({ method, token }, base) =>
  isRepeatable(method) &&
  html`<form method="post" action="${base}/${urlPart(token)}/replay"><button>Replay</button></form>`

function notReplayed({ message }: NotRepeatable, profile: Profile, base: string): Block {
  const { method, token, url } = profile
  return {
    section: 'Not replayed',
    blocks: [
      { notice: message, tone: 'warning' },
      { text: { link: `Back to ${method} ${url.slice(0, 200)}`, to: profileUrl(base, token) } },
      { section: 'By hand', blocks: [{ source: curlCommand(profile), language: 'text' }] },
    ],
  }
}

export function renderNotReplayedPage(why: NotRepeatable, profile: Profile, base: string, root: string): string {
  const main = blocksHtml([notReplayed(why, profile, base)], noPlace, 1)
  return renderPage({ title: 'Not replayed · Profiler', base, root, main })
}

/** Sends a stored request again. Takes nothing but its token, so nobody can send another. */
export function replayRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base } = sources

  app.post<{ Params: { token: string } }>(`${base}/:token/replay`, async function replayStored(request, reply) {
    if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const replayed = await repeat(sources.app, profile)
    if (!(replayed instanceof NotRepeatable)) return reply.redirect(profileUrl(base, replayed), 303)
    return sendFormats(request, reply.code(422), {
      html: () => renderNotReplayedPage(replayed, profile, base, sources.root),
      json: () => ({ error: replayed.message }),
      markdown: () => `${blocksMarkdown([notReplayed(replayed, profile, base)], '', 1)}\n`,
    })
  })
}

/** What the button does, for agents and the command line. */
export const replayQuestion: Question = {
  name: 'replay',
  acts: true,
  title: 'Replay a request',
  description:
    'Call to send a stored GET or HEAD request to the running application again, such as after a change or a restart. ' +
    'Answers with the tokens of the new requests, for profile and compare. With times, compare becomes certain. ' +
    'Cookies and credentials are masked, and not sent.',
  parameters: {
    token: { type: 'string', description: 'The token of the request, or "latest".' },
    times: { type: 'integer', description: 'How often. Default: 1.', minimum: 1, maximum: 10 },
  },
  required: ['token'],
  command: { name: 'replay', takes: '<token>', says: 'sends a GET to the running application again' },
  async answer(asked, sources) {
    const { app, archive, base } = sources
    if (app === null) return refusal('Requests are replayed by the running application.')
    const profile = await archive.find(tokenIn(asked.text('token') ?? ''))
    if (profile === null) return missingProfile('token', asked, sources)
    const tokens: string[] = []
    for (let left = asked.number('times') ?? 1; left > 0; left--) {
      const replayed = await repeat(app, profile)
      if (replayed instanceof NotRepeatable) return refusal(replayed.message)
      tokens.push(replayed)
    }
    const { profiles } = await archive.search({ parent: profile.token, perPage: tokens.length })
    const call = { tool: 'compare', arguments: { a: profile.token, b: tokens.at(-1) } }
    const more = () => ({ tool: 'search', arguments: { query: `parent:${profile.token}` } })
    const section = { heading: 'The new requests', recorded: profilesMarkdown(profiles, base), more }
    const lead = `# Replayed ${count(tokens.length, 'time')}`
    return { text: answerText(lead, [section], [`Next: ${callText(call)}`], asked.tokens), data: { tokens } }
  },
}
