import type { Finding } from '../../collect/findings.ts'
import type { ViewContext } from '../../collect/panel.ts'
import { html, type Content, type Markup } from '../../base/html.ts'
import { callName } from './slowest-five.ts'
import { renderLocation } from './location.ts'
import { renderSeverity } from './severity.ts'
import { formatDuration, formatShare } from './units.ts'

/** What a finding says: the claim with its number, then what to do about it. */
export function findingText(finding: Finding, duration: number): readonly [claim: string, remedy: string] {
  const share = formatShare(finding.time, duration)
  const time = formatDuration(finding.time)
  if (finding.what === 'repeated') return repeatedText(finding, time)
  if (finding.what === 'row') {
    const { count, saved } = finding
    return [
      `${count} awaits one after another, ${time}, ${formatDuration(saved)} could overlap.`,
      'None needs the result of another. Promise.all would await them together.',
    ]
  }
  if (finding.what === 'waited') {
    return [`Waited ${time} for a connection, ${share} of the request.`, 'All connections of the pool were busy.']
  }
  if (finding.what === 'unaccounted') {
    return [
      `${time} unaccounted, ${share} of the request.`,
      'No hook, handler or recorded call ran: another request may have kept the event loop busy.',
    ]
  }
  return [`${callName(finding.call)}: ${time}, ${share} of the request.`, slowRemedy(finding)]
}

function repeatedText(
  { kind, count }: Extract<Finding, { what: 'repeated' }>,
  time: string,
): readonly [string, string] {
  if (kind === 'loop') {
    return [`N+1: ${count} queries of one shape, ${time}.`, 'One query could fetch all the rows.']
  }
  return [`${count} queries with the same parameters, ${time}.`, 'The first result could be reused.']
}

function slowRemedy({ call }: Extract<Finding, { what: 'slow' }>): string {
  if (call.kind === 'hook') return 'It delays every request that it runs for.'
  if (call.kind === 'handler') return 'Its own code, or what it waits for without being recorded.'
  return call.times > 1 ? 'The calls together.' : ''
}

/** The findings, each with its line; null if there are none. */
export function renderFindings(findings: readonly Finding[], context: ViewContext): Markup | null {
  if (findings.length === 0) return null
  return html`<section aria-labelledby="findings"><h2 id="findings">Findings <span class="count">${findings.length}</span></h2>
<ul class="findings">${findings.map(
    finding => html`
<li>${renderSeverity(finding.what === 'waited' ? 'neutral' : 'warning')}${renderSentence(findingText(finding, context.profile.duration))}${finding.location !== null && renderLocation(finding.location, context)}</li>`,
  )}
</ul></section>`
}

function renderSentence([claim, remedy]: readonly [claim: Content, remedy: Content]): Markup {
  return html`<p><b>${claim}</b> ${remedy}</p>`
}
