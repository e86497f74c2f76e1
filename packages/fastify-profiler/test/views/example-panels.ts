import { features } from '../../core/feature.ts'
import type { AnyPanel } from '../../core/panel.ts'
import { panelsWith } from '../../options.ts'
import { licensePanel, securityPanel } from './example-profile.ts'

/** What the header of a profile offers. */
export const actions = features.flatMap(({ action }) => action ?? [])

/** Every built-in panel, and two of an application: one with data and one without. */
export const panels: readonly AnyPanel[] = [...panelsWith([]), licensePanel, securityPanel]
