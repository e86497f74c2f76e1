import type { LogLine } from '../../base/profile.ts'
import { count } from './units.ts'

/** The logged errors, or else the warnings, in words; null if there are neither. */
export function loggedProblems(logs: readonly LogLine[]): { text: string; tone: 'error' | 'warning' } | null {
  const errors = logs.filter(({ level }) => level >= 50).length
  if (errors > 0) return { text: count(errors, 'error'), tone: 'error' }
  const warnings = logs.filter(({ level }) => level >= 40).length
  return warnings > 0 ? { text: count(warnings, 'warning'), tone: 'warning' } : null
}
