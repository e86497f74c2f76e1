import { performance } from 'node:perf_hooks'
import type { Location } from '../base/profile.ts'
import type { Recorder } from './recorder.ts'

/** What is known of a step before it runs. */
export interface StepDescription {
  kind: 'plugin' | 'hook'
  name: string
  /** Where it was registered. */
  location: Location | null
  /** The plugin that registered it; null for the application's own code. */
  parent: LoadingStep | null
}

/** A plugin or an onReady hook of an application that starts: when it ran, and what it did. */
export class LoadingStep {
  readonly kind: StepDescription['kind']
  readonly name: string
  readonly location: Location | null
  /** Records its queries and requests. Its clock starts with the step. */
  readonly recorder: Recorder
  readonly children: LoadingStep[] = []
  /** By `performance.now()`. */
  readonly began = performance.now()
  /** By `performance.now()`; null while it runs. */
  ended: number | null = null
  failure: { readonly error: unknown } | null = null

  constructor({ kind, name, location }: StepDescription, recorder: Recorder) {
    this.kind = kind
    this.name = name
    this.location = location
    this.recorder = recorder
  }
}
