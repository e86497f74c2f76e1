import { html, type Markup } from '../../base/html.ts'

/** A rectangle of a bar, in the unit of its scale. */
export interface BarPiece {
  colour: string
  start: number
  end: number
}

/** A part of a whole as an SVG length, in hundredths of a per cent. */
export function percent(part: number, whole: number): string {
  return `${Math.round(Math.min(1, Math.max(0, whole > 0 ? part / whole : 0)) * 10_000) / 100}%`
}

/** Rectangles on a scale that starts at 0, cut off at its end. Attributes, since the policy forbids inline styles. */
export function renderPieces(pieces: readonly BarPiece[], scale: number, y: number, height: number): Markup {
  return html`${pieces.map(({ colour, start, end }) => {
    // Wide enough to see, and never past the edge.
    const width = Math.max(Math.min(end, scale) - start, scale * 0.003)
    return html`<rect class="${colour}"${colour === 'wait' && html` fill="url(#hatch)"`} x="${percent(Math.min(start, scale - width), scale)}" y="${y}" width="${percent(width, scale)}" height="${height}"/>`
  })}`
}

/** The pattern that pieces of the colour "wait" are filled with. Once on each page that has bars. */
export const hatchPattern = html`<svg width="0" height="0" class="sr-only" aria-hidden="true"><defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch-ink" x1="0" y1="0" x2="0" y2="4"/></pattern></defs></svg>`
