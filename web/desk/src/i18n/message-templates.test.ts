import { expect, test } from 'vitest';
import { languages } from '@/i18n/language';
import { messageOf, templateNames } from './message-templates';

test('every message names the reference and nothing that the phone should not show', () => {
  for (const name of templateNames)
    for (const language of languages) {
      const message = messageOf(name, language, 'DW-7K3M-9QXA');
      expect(message, name).toContain('DW-7K3M-9QXA');
      expect(message, name).not.toMatch(/medicine|daawo|pharma|farmash|report|warbixin|cream|kareem/i);
    }
});
