import type { AskedSources, Question } from '../../core/feature.ts'
import { blocksMarkdown } from '../../core/view/block.ts'
import type { AnyPanel, ViewContext } from '../../core/panel.ts'
import { sliceTime } from '../performance/exclusive-time.ts'
import type { Profile } from '../../core/profile.ts'
import { levelTone, locationText, statusText } from '../../core/view/elements.ts'
import { blocks, code } from '../../core/view/markdown.ts'
import { excerptMarkdown, excerptOf } from '../exceptions/source-excerpt.ts'
import { panelData, panelMarkdown, renderProfileMarkdown } from './profile-page.ts'
import { formatDuration } from '../../core/view/units.ts'
import { exceptionBlocks } from '../exceptions/exceptions.ts'
import { logsMarkdown } from '../logs/logs-panel.ts'
import { failedCalls } from '../performance/failed-calls.ts'
import { findingsOf } from '../performance/findings.ts'
import { performancePanel } from '../performance/performance-panel.ts'
import { isRoutingFailure, nearestRoutes } from '../routing/routing-panel.ts'
import { answerText, callText, missingProfile, questions, refusal, type Section, tokenIn } from './question.ts'

/** One request: what is telling about it, or one panel in full. */
export const profileQuestion: Question = {
  name: 'profile',
  title: 'One request',
  description:
    'Call with a token (from overview, search, or the X-Debug-Token header of a response; or "latest") to see why a ' +
    'request failed or was slow: exceptions with source, warnings, findings, slowest calls with file and line. Then ' +
    'with a panel for details, such as database or logs.',
  parameters: {
    token: { type: 'string', description: 'The token of the request, or "latest".' },
    panel: {
      type: 'string',
      description: 'One of those that the answer without a panel names.',
    },
    from: { type: 'integer', description: 'The line to go on at. Default: 0.', minimum: 0 },
  },
  required: ['token'],
  command: { name: 'show', takes: '<token> [panel]', says: 'one request, or one of its panels' },
  async answer(asked, sources) {
    const { number, text, tokens } = asked
    const stored = await sources.archive.find(tokenIn(text('token') ?? ''))
    if (stored === null) return missingProfile('token', asked, sources)
    const context = sources.viewContext(stored)
    const { profile } = context
    const name = text('panel')
    const filled = sources.panels.filter(panel => panelData(panel, profile) !== null)
    const panel = filled.find(panel => panel.name === name)
    if (name !== null && panel === undefined) {
      return refusal(`This request has no panel of that name. It has ${filled.map(({ name }) => name).join(', ')}.`)
    }
    const sections =
      panel === undefined ? tellingSections(context, filled) : [panelSection(context, panel, number('from') ?? 0)]
    const tail = panel === undefined ? hints(profile, filled, sources) : []
    const data = panel === undefined ? profile : { token: profile.token, panel: name, data: panelData(panel, profile) }
    return { text: answerText(leadOf(profile), sections, tail, tokens), data }
  },
}

function leadOf({ token, status, duration }: Profile): string {
  return `# Profile ${safeToken(token)}: ${statusText(status)}, ${formatDuration(duration)}`
}

/** Tokens are made by the profiler, but files can be changed. */
function safeToken(token: string): string {
  return token.replace(/[^\w-]/g, '')
}

function tellingSections(context: ViewContext, filled: readonly AnyPanel[]): Section[] {
  const { profile, root } = context
  const warnings = profile.logs.filter(({ level }) => levelTone(level) !== 'neutral')
  const client = filled.find(({ name }) => name === 'http-client')
  const part = (heading: string, panel: string, recorded: string): Section => ({
    heading,
    recorded,
    more: () => call(profile, panel),
  })
  return [
    part('Request', 'request', renderProfileMarkdown(context, [])),
    part('Nearest routes', 'routing', isRoutingFailure(profile) ? blocksMarkdown(nearestRoutes(profile), root) : ''),
    part('Exceptions', 'exception', blocksMarkdown(exceptionBlocks(profile, context), root)),
    part('Warnings and errors of the log', 'logs', warnings.length > 0 ? logsMarkdown(warnings, root) : ''),
    ...(client !== undefined && failedCalls(profile).some(({ what }) => what === 'call')
      ? [panelSection(context, client, 0)]
      : []),
    part('Queries that ran after the response', 'database', lateQueries(profile, root)),
    part('Findings and slowest calls', 'performance', panelMarkdown(performancePanel, profile, context)),
    part('The lines of the findings', 'performance', linesOfFindings(profile, root)),
  ].filter(({ recorded }) => recorded !== '')
}

/** The queries that ended after the response, most likely because nobody awaited them. Empty if none did. */
function lateQueries({ database }: Profile, root: string): string {
  return (database?.queries ?? [])
    .map((query, index) => ({ ...query, number: index + 1 }))
    .filter(({ isLate }) => isLate)
    .map(({ location, number, sql }) => {
      const place = location === null ? '' : ` ${code(locationText(location, root))}`
      return `- Query ${number}${place}: ${code(sql)}`
    })
    .join('\n')
}

/** The line that each finding is about, with the one before and after. */
function linesOfFindings(profile: Profile, root: string): string {
  const places = new Map(
    findingsOf(profile, sliceTime(profile)).flatMap(({ location }) =>
      location === null ? [] : [[locationText(location, root), excerptOf(location, undefined, 1)] as const],
    ),
  )
  return blocks(
    ...[...places].map(([place, excerpt]) => excerpt && `${code(place)}\n\n${excerptMarkdown(excerpt, place)}`),
  )
}

/** A panel in full, from a line on. */
function panelSection(context: ViewContext, panel: AnyPanel, from: number): Section {
  const { profile } = context
  const whole = renderProfileMarkdown(context, [panel], panel.name)
  return {
    heading: `Panel ${panel.name}`,
    recorded: whole.slice(whole.indexOf('\n## ') + 1),
    from,
    more: line => call(profile, panel.name, line),
  }
}

function call({ token }: Profile, panel: string, from = 0) {
  return { tool: 'profile', arguments: { token: safeToken(token), panel, ...(from > 0 && { from }) } }
}

function hints(profile: Profile, filled: readonly AnyPanel[], sources: AskedSources): string[] {
  const token = safeToken(profile.token)
  const names = filled.map(({ name }) => name)
  return [
    `More: ${callText({ tool: 'profile', arguments: { token, panel: '…' } })}, panels ${names.join(', ')}`,
    ...questions().flatMap(({ next }) => next?.({ ...profile, token }, sources) ?? []),
  ]
}
