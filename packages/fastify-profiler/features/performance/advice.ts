import type { PageSources, RunningFeature } from '../../core/feature.ts'
import { locationText } from '../../core/view/elements.ts'
import { findingText, wastefulCalls } from './findings.ts'

/** Routes that are remembered. With more, none is told about again. */
const routesMost = 1000

/** Tells about the most wasteful calls of each route, once in a process. */
export function adviseOnCalls({ advise, root }: Pick<PageSources, 'advise' | 'root'>): RunningFeature {
  if (advise === null) return {}
  const told = new Set<string>()
  return {
    written(_summary, profile) {
      const { duration, method, routing, token } = profile
      const route = `${method} ${routing.matched?.url ?? ''}`
      if (routing.matched === null || told.has(route) || told.size >= routesMost) return
      const [worst] = wastefulCalls(profile)
      if (worst === undefined) return
      told.add(route)
      const [claim] = findingText(worst, duration)
      const place = worst.location === null ? '' : ` ${locationText(worst.location, root)}`
      advise(`${route}: ${claim}${place} (profile ${token})`)
    },
  }
}
