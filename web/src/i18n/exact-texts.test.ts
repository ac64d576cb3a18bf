import { expect, it } from 'vitest';
import { en } from './en';

/** The messages that the specification fixes, word for word; {title} stands for a resource's title. */
const fixed = [
  'Product name is required',
  'Problem description is required',
  'Phone number is required',
  'Location is required',
  'Validation Error',
  'Please fill in all required fields.',
  'Invalid File Type',
  'Please select an image file.',
  'File Too Large',
  'Please select a file smaller than 5MB.',
  'Photo Upload Failed',
  'Report will be submitted without photo.',
  'Submission Failed',
  'Please try again or contact us directly.',
  'Report Submitted Successfully',
  'Thank you for your report. We will review it and take appropriate action. An admin has been notified.',
  'Loading Error',
  'Failed to load resources. Please refresh the page.',
  'Download Error',
  'Failed to track download, but you can still access the resource.',
  'Download Started',
  'Coming Soon',
  'Loading resources...',
  'Share Knowledge, Save Lives',
  'Select a region',
  'Select a district',
  'Submitting...',
];

function words(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value && typeof value === 'object') return Object.values(value).flatMap(words);
  return [];
}

it.each(fixed)('says: %s', (text) => {
  expect(words(en)).toContain(text);
});
