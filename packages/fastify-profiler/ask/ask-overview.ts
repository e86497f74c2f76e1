import { exceptionTable, routeTable, statementTable, troublesMarkdown } from '../show/markdown/overview-markdown.ts'
import { count, formatDuration } from '../show/parts/units.ts'
import { answerText, callText, type Section } from './answer-text.ts'
import { moreTokens } from './read-arguments.ts'
import type { AskedSources, Question } from './question.ts'

const minute = 60_000
const minutesUsual = 15

/** What matters lately. */
export const overviewQuestion: Question = {
  name: 'overview',
  title: 'What matters lately',
  description:
    'Call first, when something is slow or fails and you do not know which request. Tells what went wrong lately by ' +
    'route, exception and SQL shape (failures, N+1, got slower), each with the token of a request to look at.',
  parameters: {
    minutes: {
      type: 'integer',
      description: 'How far back. Default: 15, or everything stored if nothing happened since.',
      minimum: 1,
      maximum: 100_000,
    },
  },
  required: [],
  async answer({ given, number, tokens }, sources) {
    const { overview, period } = overviewOf(number('minutes'), sources)
    const { exceptions, failed, p95, refused, requests, statements } = overview
    const more = () => ({ tool: 'overview', arguments: { ...given, max_tokens: moreTokens(tokens) } })
    const part = (heading: string, recorded: string): Section[] =>
      recorded === '' ? [] : [{ heading, recorded, more }]
    const sections = [
      ...part('Troubles', troublesMarkdown(overview)),
      ...part('By exception', exceptions.length === 0 ? '' : exceptionTable(overview)),
      ...part('By route', requests === 0 ? '' : routeTable(overview)),
      ...part('By SQL shape, most time first', statements.length === 0 ? '' : statementTable(overview)),
    ]
    const outcomes = `${failed} failed, ${refused} refused, p95 ${formatDuration(p95)}`
    const lead = `# ${count(requests, 'request')} ${period}: ${outcomes}`
    const next = callText({ tool: 'profile', arguments: { token: '…' } })
    return { text: answerText(lead, sections, [`Next: ${next}`], tokens), data: overview }
  },
}

function overviewOf(minutes: number | null, { archive }: AskedSources) {
  const lately = archive.overview(Date.now() - (minutes ?? minutesUsual) * minute)
  if (minutes !== null || lately.requests > 0) {
    return { overview: lately, period: `in the last ${count(minutes ?? minutesUsual, 'minute')}` }
  }
  return { overview: archive.overview(0), period: 'stored' }
}
