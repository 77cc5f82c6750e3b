import { Body, Controller, Delete, Get, HttpCode, Put } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, IfMatch, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { PromptTemplates } from '../prompts/prompt-templates.js';
import { PromptTemplateDto, SetPromptTemplateDto } from './prompts.dto.js';

@ApiTags('Prompts')
@Controller('prompt-template')
export class PromptTemplateController {
  constructor(private readonly templates: PromptTemplates) {}

  @Get()
  @Versioned()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'Get the template for prompts of coding agents' })
  @ApiOkResponse({ type: PromptTemplateDto })
  get(@CurrentCaller() caller: Caller) {
    return this.templates.get(caller);
  }

  @Put()
  @Versioned()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    summary: 'Set the template for prompts of coding agents',
    description: 'It applies to runs that start from now on.',
  })
  @ApiOkResponse({ type: PromptTemplateDto })
  @ApiErrors('validation_failed')
  set(
    @CurrentCaller() caller: Caller,
    @Body() { template }: SetPromptTemplateDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.templates.set(caller, template, version);
  }

  @Delete()
  @HttpCode(204)
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({ summary: 'Reset the template for prompts to that of Drover' })
  @ApiNoContentResponse()
  reset(@CurrentCaller() caller: Caller, @IfMatch() version: number | undefined) {
    return this.templates.reset(caller, version);
  }
}
