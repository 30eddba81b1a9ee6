import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleFiles } from './console-files.js';
import { ConsoleSandbox } from './console-sandbox.js';

/** Serves the desk in a browser, which the workspace `console/` builds. */
@Module({ controllers: [ConsoleController], providers: [ConsoleFiles, ConsoleSandbox] })
export class ConsoleModule {}
