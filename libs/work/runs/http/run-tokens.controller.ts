import { Controller, Delete, HttpCode } from '@nestjs/common';
import { ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { RunTokens } from '../reports/run-tokens.js';

@ApiTags('Runs')
@Controller('runs/:runId/token')
export class RunTokensController {
  constructor(private readonly tokens: RunTokens) {}

  @Delete()
  @HttpCode(204)
  @Auth({ kinds: ['user', 'api_key', 'agent'], role: 'MEMBER', scope: 'agents:write' })
  @ApiOperation({
    summary: 'Revoke the token of a run within about a second; the run continues',
  })
  @ApiNoContentResponse()
  @ApiErrors('run_not_found')
  revoke(@CurrentCaller() caller: Caller, @UuidParam('runId') runId: string): Promise<void> {
    return this.tokens.revoke(caller, runId);
  }
}
