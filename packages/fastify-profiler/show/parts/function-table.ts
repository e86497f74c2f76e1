import { html, type Markup } from '../../base/html.ts'
import type { FunctionUse, Samples } from '../../base/samples.ts'
import { code, table } from '../markdown/markdown.ts'
import { functionName } from './icicle.ts'
import { lineText, renderLocation, type Place } from './location.ts'
import { alignNumber, formatShare } from './units.ts'

const longestLine = 160

type Measured = Pick<Samples, 'kind' | 'total'>

/** Functions with their line, amount and share. */
export function renderFunctionTable(
  caption: string,
  uses: readonly FunctionUse[],
  { kind, total }: Measured,
  place: Place,
): Markup {
  return html`<table class="lines functions"><caption class="sr-only">${caption}</caption><colgroup><col class="name"><col><col class="ms"><col class="share"></colgroup>
<thead><tr><th scope="col">Function</th><th scope="col">Line</th><th scope="col" class="number">${unitOf(kind)}</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>${uses.map(
    ({ amount, function: name, location, source }) => html`
<tr><th scope="row"><code>${functionName(name)}</code></th><td>${location !== null && renderLocation(location, place)}${source !== undefined && html` <small class="only-wide"><code>${shown(source)}</code></small>`}</td><td class="number">${amountText(kind, amount)}</td><td class="number muted">${formatShare(amount, total)}</td></tr>`,
  )}
</tbody></table>`
}

/** The same as Markdown. */
export function functionTableMarkdown(uses: readonly FunctionUse[], { kind, total }: Measured, root: string): string {
  return table(
    ['Function', unitOf(kind), 'Share', 'Line', 'Source'],
    uses.map(({ amount, function: name, location, source }) => [
      code(functionName(name)),
      amountText(kind, amount).trim(),
      formatShare(amount, total),
      location === null ? '' : code(lineText(location, root)),
      source === undefined ? '' : code(shown(source)),
    ]),
  )
}

function unitOf(kind: Samples['kind']): string {
  return kind === 'cpu' ? 'ms' : 'kB'
}

function amountText(kind: Samples['kind'], amount: number): string {
  return alignNumber(kind === 'cpu' ? amount : amount / 1000)
}

function shown(line: string): string {
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
}
