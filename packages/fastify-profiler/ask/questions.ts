import { compareQuestion } from './ask-compare.ts'
import { explainQuestion } from './ask-explain.ts'
import { overviewQuestion } from './ask-overview.ts'
import { profileQuestion } from './ask-profile.ts'
import { routesQuestion } from './ask-routes.ts'
import { searchQuestion } from './ask-search.ts'
import type { Answer, AskedSources, Question } from './question.ts'
import { readArguments } from './read-arguments.ts'
import { refusal } from './stored-profile.ts'

/** Everything that can be asked. */
export const questions: readonly Question[] = [
  overviewQuestion,
  searchQuestion,
  profileQuestion,
  compareQuestion,
  explainQuestion,
  routesQuestion,
]

/** Answers a question. Invalid arguments are answered with what is wrong about them. */
export async function ask(question: Question, given: unknown, sources: AskedSources): Promise<Answer> {
  const asked = readArguments(question, given)
  return typeof asked === 'string' ? refusal(asked) : question.answer(asked, sources)
}
