import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '#lib/runs';
import { QuestionAsking } from '../asking/question-asking.js';
import { Questions } from '../answering/questions.js';
import {
  AnswerQuestionDto,
  AskQuestionDto,
  CancelledQuestionsDto,
  QuestionDto,
  QuestionPageDto,
  QuestionsQuery,
} from './questions.dto.js';

@ApiTags('Questions')
@Controller()
export class QuestionsController {
  constructor(
    private readonly questions: Questions,
    private readonly asking: QuestionAsking,
  ) {}

  @Post('runs/:runId/questions')
  @Auth({ kinds: ['agent', 'run'] })
  @Idempotent()
  @ApiOperation({
    operationId: 'askQuestion',
    summary: 'Ask people a question; the run ends, or waits for the answer with runWaits',
  })
  @ApiCreatedResponse({ type: QuestionDto })
  @ApiErrors(
    ...(['validation_failed', 'run_not_found', 'stale_run', 'illegal_transition'] as const),
    ...(['too_many_questions', 'run_hears_no_messages'] as const),
  )
  ask(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: AskQuestionDto,
  ) {
    return this.asking.ask(reporterOf(caller, runId), body);
  }

  @Post('runs/:runId/questions/cancel')
  @HttpCode(200)
  @Auth({ kinds: ['agent', 'run'] })
  @ApiOperation({ summary: 'Cancel the open question for whose answer the run waits' })
  @ApiOkResponse({ type: CancelledQuestionsDto })
  @ApiErrors('validation_failed', 'run_not_found', 'stale_run')
  cancel(@CurrentCaller() caller: Caller, @UuidParam('runId') runId: string) {
    return this.asking.cancel(reporterOf(caller, runId));
  }

  @Get('questions')
  @Auth({ kinds: ['user', 'api_key', 'run'], scope: 'tasks:read' })
  @ApiOperation({
    summary: 'List questions: open ones by deadline, others the newest first',
  })
  @ApiOkResponse({ type: QuestionPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'task_not_found')
  list(@CurrentCaller() caller: Caller, @Query() query: QuestionsQuery) {
    return this.questions.list(caller, query);
  }

  @Get('questions/:id')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'Get a question' })
  @ApiOkResponse({ type: QuestionDto })
  @ApiErrors('validation_failed', 'question_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.questions.get(caller, id);
  }

  @Post('questions/:id/answer')
  @HttpCode(200)
  @Auth({ role: 'MEMBER', scope: 'questions:answer' })
  @Idempotent()
  @ApiOperation({
    summary: 'Answer a question; its task resumes, or its waiting run receives the answer',
  })
  @ApiOkResponse({ type: QuestionDto })
  @ApiErrors('validation_failed', 'question_not_found', 'question_closed')
  answer(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() { answer }: AnswerQuestionDto,
  ) {
    return this.questions.answer(caller, id, answer);
  }
}
