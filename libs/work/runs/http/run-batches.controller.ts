import { Controller, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Hot, type HotCall } from '#lib/http';
import { Auth } from '#lib/identity';
import { RunCompletion } from '../reports/run-completion.js';
import { CompletionResultsDto } from './dto/run-answers.dto.js';
import { CompleteRunsDto } from './dto/run-report.dto.js';

@ApiTags('Runs')
@Controller('runs')
@Auth({ kinds: ['agent'] })
export class RunBatchesController {
  constructor(private readonly completion: RunCompletion) {}

  @Post('complete')
  @Hot({ body: CompleteRunsDto, status: 200 })
  @ApiOkResponse({ type: CompletionResultsDto })
  @ApiOperation({
    operationId: 'completeRuns',
    summary: 'Complete many runs, each with its own outcome',
  })
  complete({ caller, body }: HotCall<CompleteRunsDto>) {
    return this.completion.completeMany(caller, body);
  }
}
