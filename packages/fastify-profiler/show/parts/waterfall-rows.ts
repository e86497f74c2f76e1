import type { Profile, Span } from '../../base/profile.ts'
import { timeKindOf, type TimeSlice } from '../../collect/exclusive-time.ts'
import type { TimeKind } from '../../base/summary.ts'
import { childrenOf, spansAt } from '../../collect/own-time.ts'
import { gatherCalls, isOperation } from '../../collect/repeated-calls.ts'
import type { BarPiece } from './bar.ts'
import { kindView } from './span-kind.ts'

/** A line of the waterfall: a function, an operation with its repetitions, or a gap that has no spans. */
export interface WaterfallRow {
  kind: TimeKind
  spans: readonly Span[]
  depth: number
  start: number
  /** Milliseconds in which at least one of its spans ran. */
  time: number
  /** Whether it is shorter than the threshold, with all below it. */
  isShort: boolean
  pieces: BarPiece[]
}

/** Pieces of a bar closer together than this part of the scale are drawn as one. */
const resolution = 1 / 500

const gaps = new Set<TimeKind>(['reading', 'sending', 'unaccounted'])

/** The lines of the waterfall in the order in which they started, each followed by those below it. */
export function waterfallRows(
  { spans }: Pick<Profile, 'spans'>,
  slices: readonly TimeSlice[],
  threshold: number,
  scale: number,
): WaterfallRow[] {
  const children = childrenOf(spans)
  const calls = new Map(gatherCalls(spans).map(call => [call.ids[0], call]))

  /** The line of a span, and those below it; none for a repetition, which the first of its kind stands for. */
  const rowsOf = (id: number, depth: number): WaterfallRow[] => {
    const span = spans[id]
    const call = calls.get(id)
    if (span === undefined || (isOperation(span) && call === undefined)) return []
    const same = call === undefined ? [span] : spansAt(spans, call.ids)
    const within = children.get(id) ?? []
    const below = rowsBelow(within, depth + 1)
    const time = call?.time ?? span.duration
    const isTelling = same.some(({ outcome }) => outcome === 'threw' || outcome === 'unfinished')
    return [
      {
        kind: timeKindOf(span),
        spans: same,
        depth,
        start: span.start,
        time,
        isShort: time < threshold && !isTelling && below.every(row => row.isShort),
        pieces: isOperation(span)
          ? apart(merge(same.map(pieceOf), scale), scale)
          : functionPieces(span, merge(spansAt(spans, within).map(pieceOf), scale)),
      },
      ...below,
    ]
  }
  const rowsBelow = (ids: readonly number[], depth: number): WaterfallRow[] => inOrder(ids.map(id => rowsOf(id, depth)))

  return inOrder([
    ...(children.get(null) ?? []).map(id => rowsOf(id, 0)),
    ...slices.filter(({ kind }) => gaps.has(kind)).map(slice => [gapRow(slice, threshold)]),
  ])
}

/** Sorts groups of lines by the start of their first. */
function inOrder(groups: ReadonlyArray<readonly WaterfallRow[]>): WaterfallRow[] {
  return groups.toSorted(([one], [other]) => (one?.start ?? 0) - (other?.start ?? 0)).flat()
}

function gapRow({ kind, start, end }: TimeSlice, threshold: number): WaterfallRow {
  const pieces = [{ colour: kindView(kind).colour, start, end }]
  return { kind, spans: [], depth: 0, start, time: end - start, isShort: end - start < threshold, pieces }
}

function pieceOf(span: Span): BarPiece {
  return { colour: kindView(timeKindOf(span)).colour, start: span.start, end: span.start + span.duration }
}

/** A pale piece for the whole function, and full ones for its own time. */
function functionPieces(span: Span, within: readonly BarPiece[]): BarPiece[] {
  const { colour, start, end } = pieceOf(span)
  if (within.length === 0) return [{ colour, start, end }]
  const own: BarPiece[] = []
  let last = start
  // What a plugin registers runs after it.
  for (const piece of within.filter(piece => piece.start < end)) {
    if (piece.start > last) own.push({ colour, start: last, end: Math.min(piece.start, end) })
    last = Math.max(last, piece.end)
  }
  if (end > last) own.push({ colour, start: last, end })
  return [{ colour: `${colour} calling`, start, end }, ...own]
}

/** Leaves a gap between pieces, so that repetitions can be counted. */
function apart(pieces: BarPiece[], scale: number): BarPiece[] {
  return pieces.map((piece, index) => {
    const next = pieces[index + 1]
    return next === undefined ? piece : { ...piece, end: Math.min(piece.end, next.start - scale * resolution) }
  })
}

/** Joins pieces that overlap, or that are too close to be told apart. */
function merge(pieces: BarPiece[], scale: number): BarPiece[] {
  const merged: BarPiece[] = []
  for (const piece of pieces.sort((one, other) => one.start - other.start)) {
    const before = merged.at(-1)
    const isNarrow = piece.end - (before?.start ?? 0) < scale * resolution * 4
    if (before !== undefined && (piece.start < before.end || isNarrow)) {
      before.end = Math.max(before.end, piece.end)
    } else merged.push({ ...piece })
  }
  return merged
}
