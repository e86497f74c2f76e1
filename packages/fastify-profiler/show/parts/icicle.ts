import type { SourceMap } from 'node:module'
import { html, type Markup } from '../../base/html.ts'
import type { CallCell, CallCells } from '../../collect/call-cells.ts'
import type { CallNode } from '../../collect/call-tree.ts'
import { resolveLocation } from '../source-excerpt.ts'
import { percent } from './bar.ts'
import { lineText } from './location.ts'
import { formatShare } from './units.ts'

const rowHeight = 20

/** A narrower cell has no room for a name. */
const namedFrom = 0.02

/** What a function is called. */
export function functionName(name: string): string {
  return name === '' ? '(anonymous)' : name
}

/** Calls as cells: each is as wide as its share, and lies below the function that calls it. Readable without script. */
export function renderIcicle({ cells, dropped, rows }: CallCells, label: string, root: string): Markup {
  const maps = new Map<string, SourceMap | null>()
  return html`<ul class="legend"><li><span class="kind own"></span>your code</li><li><span class="kind module"></span>libraries</li><li><span class="kind node"></span>Node and V8</li></ul>
<svg class="icicle" role="img" aria-label="${label}" width="100%" height="${rows * rowHeight}">${cells.map(cell => renderCell(cell, placeOf(cell.call, root, maps)))}
</svg>
${dropped > 0 && html`<p class="muted">${dropped} more calls are not drawn: those of libraries that only pass on, and what is narrower than 0.3%, or beyond 1,000 cells or 60 rows.</p>`}`
}

/** A cell is an image of its own, which cuts a name that is too long. */
function renderCell({ call, row, share, start }: CallCell, place: string): Markup {
  const name = functionName(call.function)
  return html`
<svg x="${percent(start, 1)}" y="${row * rowHeight}" width="${percent(share, 1)}" height="${rowHeight - 1}"><title>${name} ${place} ${formatShare(share, 1)}</title><rect class="${call.kind}" width="100%" height="100%"/>${share >= namedFrom && html`<text x="4" y="14">${name}</text>`}</svg>`
}

function placeOf({ kind, location }: CallNode, root: string, maps: Map<string, SourceMap | null>): string {
  if (location === null) return ''
  return lineText(kind === 'own' ? resolveLocation(location, maps) : location, root)
}
