import { textOf } from '../base/foreign-value.ts'
import type { Profile } from '../base/profile.ts'
import type { Mask } from '../mask/mask.ts'
import type { FinishedRequest, Panel } from './panel.ts'

/** Adds the data and labels of the application's panels to a profile. */
export function collectPanels(
  profile: Profile,
  source: Omit<FinishedRequest, 'profile'>,
  panels: ReadonlyArray<Panel<unknown>>,
  mask: Mask,
): void {
  const finished = { ...source, profile }
  for (const panel of panels) {
    try {
      const data = panel.collect(finished)
      if (data === null) continue
      profile.panels[panel.name] = mask.value(data)
      for (const [name, value] of Object.entries(panel.labels?.(data) ?? {})) profile.labels[name] = mask.text(value)
    } catch (error) {
      profile.notes.push(mask.text(`The panel "${panel.name}" failed to collect: ${textOf(error)}`))
    }
  }
}
