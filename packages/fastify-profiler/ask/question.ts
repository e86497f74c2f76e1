import type { PageSources } from '../show/routes/page-sources.ts'

/** What answers are made from. */
export type AskedSources = Pick<
  PageSources,
  'archive' | 'base' | 'explainPool' | 'labels' | 'panels' | 'root' | 'viewContext'
>

/** A parameter, as JSON Schema describes it. */
export interface Parameter {
  type: 'string' | 'integer'
  description: string
  minimum?: number
  maximum?: number
  enum?: readonly string[]
}

/** The arguments of a question, checked. */
export interface Arguments {
  text: (name: string) => string | null
  number: (name: string) => number | null
  /** Tokens that the answer may have. */
  tokens: number
  /** The arguments as they were given. */
  given: Record<string, unknown>
}

export interface Answer {
  /** Markdown within the limit of tokens. */
  text: string
  /** The same for programs. */
  data: unknown
  /** Whether the question could not be answered. */
  failed?: boolean
}

/** Something that can be asked about stored requests. Changes nothing. */
export interface Question {
  name: string
  title: string
  /** When to ask it, in less than 60 words. */
  description: string
  parameters: Record<string, Parameter>
  required: readonly string[]
  answer: (asked: Arguments, sources: AskedSources) => Promise<Answer>
}
