import type { Profile } from '../../base/profile.ts'

/** A request this many times as long as what ran in it is cut off: its tail would leave no room for the bars. */
const longTail = 3

/** Milliseconds that the width of the waterfall stands for. */
export function waterfallScale({ duration, spans }: Pick<Profile, 'duration' | 'spans'>): number {
  const ran = spans.reduce((latest, span) => Math.max(latest, span.start + span.duration), 0)
  return ran > 0 && duration > ran * longTail ? ran * 1.1 : Math.max(duration, ran)
}

/** Round numbers along the scale, three to six of them, none close to its end. */
export function axisTicks(scale: number): number[] {
  if (!(scale > 0)) return []
  const magnitude = 10 ** Math.floor(Math.log10(scale))
  const step = magnitude * ([0.2, 0.5, 1].find(part => scale <= part * magnitude * 6) ?? 2)
  const ticks: number[] = []
  for (let number = 1; number * step < scale * 0.86; number++) ticks.push(Number((number * step).toPrecision(3)))
  return ticks
}
