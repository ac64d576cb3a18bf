import { expect, it } from 'vitest';
import { en } from './en';
import { so } from './so';

/**
 * The exact texts of the specification, by their keys in the dictionary. The browser tests check where each of them is
 * shown. {title} is the title of a resource.
 */
const fixed: Record<string, string> = {
  'not-found.title': 'Oops! Page not found',
  'not-found.home': 'Return to Home',
  'unexpected-error.title': 'Unexpected Application Error!',
  'home.tips.mixing.title': 'Stop mixing creams',
  'home.tips.expiry.title': 'Check expiry dates',
  'home.tips.sources.title': 'Buy from trusted sources',
  'home.learnRisks': 'Learn the risks',
  'home.reportProduct': 'Report a product',
  'about.values.respect.title': 'Respect',
  'about.values.evidence.title': 'Evidence',
  'about.values.community.title': 'Community',
  'about.values.transparency.title': 'Transparency',
  'about.figures.educated': 'people educated',
  'about.figures.reported': 'products reported',
  'about.figures.support': 'community support',
  'learn.categories.Safety': 'Safety',
  'learn.categories.Medicine': 'Medicine',
  "learn.categories.Women's Health": "Women's Health",
  'learn.risksTitle': 'Key health risks',
  'learn.risks.antibiotics.title': 'Antibiotics',
  'learn.risks.painkillers.title': 'Painkillers and steroids',
  'learn.risks.creams.title': 'Skin-lightening mixes',
  'learn.risks.expired.title': 'Expired or counterfeit products',
  'learn.risks.pregnancy.title': 'Pregnancy or breastfeeding',
  'learn.beautyTitle': 'Your skin tone is already beautiful',
  'learn.reminderTitle': 'Important reminder',
  'guide.back': 'Back to Learn',
  'guide.notFound.title': 'Guide Not Found',
  'guide.notFound.content': "The guide you're looking for doesn't exist.",
  'womens-health.statistics.unsafe.name': 'Unsafe Products',
  'womens-health.statistics.risks.name': 'Health Risks',
  'womens-health.statistics.prevention.name': 'Prevention Rate',
  'womens-health.severity.high': 'High severity',
  'womens-health.severity.medium': 'Medium severity',
  'womens-health.alternativesTitle': 'Safe Alternatives',
  'womens-health.alternatives.sunscreen.title': 'Daily sunscreen protection',
  'womens-health.alternatives.moisturizers.title': 'Gentle moisturizers',
  'womens-health.alternatives.consultation.title': 'Professional consultation',
  'womens-health.beautyTitle': 'Celebrate Your Natural Beauty',
  'womens-health.communityTitle': 'Join Our Community',
  'womens-health.whatsapp': 'Join WhatsApp Group',
  'womens-health.facebook': 'Follow on Facebook',
  'womens-health.download': "Download Women's Safety Guide",
  'womens-health.downloadAlert': 'Safety guide download will be available soon',
  'report.region': 'Region',
  'report.regionOther': 'Gobol',
  'report.district': 'District',
  'report.districtOther': 'Degmo',
  'report.selectRegion': 'Select a region',
  'report.selectDistrict': 'Select a district',
  'report.submitting': 'Submitting...',
  'report.errors.product_name': 'Product name is required',
  'report.errors.issue_description': 'Problem description is required',
  'report.errors.phone': 'Phone number is required',
  'report.errors.location': 'Location is required',
  'report.toasts.invalid.title': 'Validation Error',
  'report.toasts.invalid.description': 'Please fill in all required fields.',
  'report.toasts.fileType.title': 'Invalid File Type',
  'report.toasts.fileType.description': 'Please select an image file.',
  'report.toasts.fileSize.title': 'File Too Large',
  'report.toasts.fileSize.description': 'Please select a file smaller than 5MB.',
  'receipt.toasts.photoFailed.title': 'Photo Upload Failed',
  'receipt.toasts.photoFailed.description': 'Report will be submitted without photo.',
  'report.toasts.failed.title': 'Submission Failed',
  'report.toasts.failed.description': 'Please try again or contact us directly.',
  'receipt.toasts.success.title': 'Report Submitted Successfully',
  'receipt.toasts.success.description':
    'Thank you for your report. We will review it and take appropriate action. An admin has been notified.',
  'resources.loading': 'Loading resources...',
  'resources.featured': 'Featured Resources',
  'resources.download': 'Download',
  'resources.closing.title': 'Share Knowledge, Save Lives',
  'resources.toasts.loadFailed.title': 'Loading Error',
  'resources.toasts.loadFailed.description': 'Failed to load resources. Please refresh the page.',
  'resources.toasts.trackFailed.title': 'Download Error',
  'resources.toasts.trackFailed.description':
    'Failed to track download, but you can still access the resource.',
  'resources.toasts.started.title': 'Download Started',
  'resources.toasts.started.description': '{title} is downloading now.',
  'resources.toasts.comingSoon.title': 'Coming Soon',
  'resources.toasts.comingSoon.description': '{title} will be available for download soon.',
  'contact.hours.days': 'Mon–Fri 9:00–17:00',
  'contact.hours.content': 'Available for consultations and reports',
  'contact.locations.somalia': 'Somalia',
  'contact.locations.toronto': 'Toronto, Canada',
  'contact.emergency.content': 'Available 24/7 for urgent cases',
  'privacy.updated': 'Last updated January 2024',
};

/** The exact Somali texts of the specification. */
const fixedInSomali: Record<string, string> = {
  'guide.back': 'Ku noqo Baro',
  'report.region': 'Gobol',
  'report.district': 'Degmo',
};

/** Topics that a text must mention, where the specification gives no exact text. */
const spokenOf: Record<string, RegExp[]> = {
  'layout.footer.disclaimer': [
    /education only/,
    /not replace professional medical advice/,
    /not a hospital/,
    /emergency.* medical care immediately/,
  ],
  'contact.disclaimer': [/education only/, /not replace/, /emergency.* medical care immediately/],
  'home.lead': [/antibiotics/, /painkillers/, /steroids/, /mixed skin-lightening creams/, /expired or fake/],
  'home.tips.mixing.content': [/mercury/, /hydroquinone/, /steroids/],
  'learn.reminder': [/bad reaction, get medical attention/, /photos, write down/, /report it/],
  'report.emergency': [/hospital/, /emergency/],
  'report.emergencyNumbers.0': [/Toronto.* 911/],
  'report.emergencyNumbers.1': [/Mogadishu.* 999/],
  'report.whatsapp.title': [/WhatsApp/],
  'report.evidence.title': [/Photo evidence/],
  'report.confidential.title': [/Confidential/],
  'privacy.sections.0.title': [/Information we collect/],
  'privacy.sections.1.title': [/use/],
  'privacy.sections.2.title': [/protect/],
  'privacy.sections.2.paragraphs.0': [/^Report information is kept confidential\./],
  'privacy.sections.3.title': [/rights/],
  'privacy.sections.4.title': [/Contact/],
};

it.each(Object.entries(fixed))('%s is: %s', (name, text) => {
  expect(wordsAt(en, name)).toBe(text);
});

it.each(Object.entries(fixedInSomali))('in Somali, %s is: %s', (name, text) => {
  expect(wordsAt(so, name)).toBe(text);
});

it.each(Object.entries(spokenOf))('%s speaks of %s', (name, subjects) => {
  for (const subject of subjects) expect(wordsAt(en, name)).toMatch(subject);
});

function wordsAt(dictionary: object, name: string) {
  return name
    .split('.')
    .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], dictionary);
}
