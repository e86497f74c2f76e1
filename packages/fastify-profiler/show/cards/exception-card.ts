import type { Exception } from '../../base/profile.ts'
import type { ToolbarCard } from '../../collect/panel.ts'
import { locationText } from '../parts/location.ts'

/** The chain of exceptions, each with its message. */
export function exceptionCard(thrown: Exception, all: readonly Exception[], root: string): ToolbarCard {
  const place = thrown.frames.find(({ kind }) => kind === 'own')
  return {
    title: thrown.class,
    ...(place !== undefined && { note: locationText(place, root) }),
    rows: all.map(({ class: name, message, relation }) => [relation, `${name}: ${message}`, '']),
  }
}
