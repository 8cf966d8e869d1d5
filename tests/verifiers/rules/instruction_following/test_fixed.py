"""Profile fixed judges what the instruction says."""

from typing import Any

from tests.tables import table
from verifiers.rules.instruction_following import InstructionFollowingParams, judge


def score(response: str, name: str, arguments: dict[str, Any], **params: Any) -> float | None:
    reference = (
        {"func_name": name, **arguments} if ":" not in name else {"instruction_id_list": [name], "kwargs": [arguments]}
    )
    return judge(response, InstructionFollowingParams(reference=reference, **params)).score


def _quiz(label: str, end: str) -> str:
    options = "\n".join(f"{letter}) painter {letter}" for letter in "ABCDE")
    return "\n\n".join(f"{label.format(n)}Who {'really ' * n}did it?\n\n{options}{end}" for n in range(1, 5))


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    # id, arguments, a response that follows it, one that does not
    ("keywords:existence", {"keywords": ["ice cream"]}, "Ice\ncream, _please_.", "nice creamy"),
    ("keywords:forbidden_words", {"forbidden_words": ["rock"]}, "rocket science", "A r\u043eck."),
    ("keywords:forbidden_words", {"forbidden_words": ["rock"]}, "shamrock", "A r**o**ck."),
    ("keywords:forbidden_words", {"forbidden_words": ["rock"]}, "rocks", "my_rock"),
    ("keywords:forbidden_words", {"forbidden_words": ["rock"]}, "10 μm", "r\u0585\u10aek"),
    ("keywords:forbidden_words", {"forbidden_words": ["rock"]}, "Rochen für Köche", "ro\u1160ck \u30ed"),
    ("keywords:forbidden_words", {"forbidden_words": ["c++", "a.b"]}, "c and axb", "We like C++"),
    ("keywords:existence", {"keywords": ["lamp"]}, "A LAMP!", "A l\u0430mp"),
    ("keywords:existence", {"keywords": ["e-mail"]}, "Send an e\u2011mail.", "Send an email."),
    ("keywords:existence", {"keywords": ["don’t"]}, "I don't know.", "I do not know."),
    ("keywords:forbidden_words", {"forbidden_words": ["e-mail"]}, "mail", "Send an e\u2011mail."),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "less than"},
        "The bank was founded by J. P. Morgan, P. Drexel and others in New York.",
        "See p. 5. We did.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "Save it as app.py. Run it.",
        "The U.S. President met Gov. Brown at 5 p.m. Eastern Time.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "We orbit the `Sun.` Jupiter does.",
        "On Sun. 5 Jan. 2020 it rained.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "We lived in San Jose, CA. Jane did, too.",
        "Ft. Worth is not Mt. Hood.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "Solve it for x. Insert y.",
        "Das kostet z. B. 5 Euro, ca. 3 Pfund.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "We eat rice, beans, etc. People like it.",
        "1.1. We eat rice, beans, etc. and rest.",
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "lastly"},
        "a\n\n_Lastly_, b",
        "a\n\nLast_ly b",
    ),
    ("startend:end_checker", {"end_phrase": "Don't you think?"}, "Nice. Don’t you think?", "Do you think?"),
    ("combination:repeat_prompt", {"prompt_to_repeat": 'Say "hi".'}, "Say “hi”. Hi!", "Say hi. Hi!"),
    ("detectable_format:json_format", {}, '```json {"a": 1} ```', '```json {"a": 1} ``` ok'),
    ("detectable_format:json_format", {}, '```{"a": 1}```', '```{"a": 1}'),
    ("ratio:sentence_balance", {}, "We go. 😀 Do we? 🎉 (We do!) ❤️", "We go 😀. Do we? 🎉 We do 😀"),
    ("format:options", {"options": "red, blue, or green"}, "Red.", "red, blue"),
    ("format:options", {"options": "red, blue or green"}, "blue", "blue or green"),
    ("format:line_indent", {}, "```\na\n b\n  c\n```", "```\na\nb\n```"),
    ("format:thesis", {}, "<h1>A</h1><p><em>Claim.</em> Body.</p>", "<h1>A</h1><p>Body <em>claim.</em></p>"),
    (
        "format:output_template",
        {},
        "My Answer: [four]\nMy Conclusion: [so]\nFuture Outlook: [fine]",
        "My Answer: [answer]\nMy Conclusion: [conclusion]\nFuture Outlook: [outlook]",
    ),
    ("custom:mcq_count_length", {}, _quiz("**Question {}:** ", ""), _quiz("Question {}: ", "\nExplanation: easy")),
    ("custom:mcq_count_length", {}, _quiz("Question {}\n", "\nAnswer: C"), "So:\n" + _quiz("Question {}: ", "")),
    (
        "length_constraints:number_words",
        {"num_words": 3, "relation": "less than"},
        "Boats sail",
        "We\u3164go\u3164home",
    ),
    ("keywords:existence", {"keywords": ["서울", "한국"]}, "서울은 한국의 수도입니다.", "서울시는 한국어를 쓴다."),
    ("keywords:existence", {"keywords": ["ประเทศไทย"]}, "ฉันรักประเทศไทยมาก", "ฉันรักเมืองไทย"),
    ("keywords:forbidden_words", {"forbidden_words": ["कम"]}, "कमी है", "यह कम है"),
    ("keywords:forbidden_words", {"forbidden_words": ["서울"]}, "서울말", "나는 서울에서 산다."),
    (
        "length_constraints:number_words",
        {"num_words": 5, "relation": "less than"},
        "यह हिन्दी है।",
        "नमस्ते दुनिया, यह हिन्दी है।",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "less than"},
        "Have a great day! 😊 🎉",
        "Hello. 😊 Bye. 😊",
    ),
    ("sentence:increment", {"small_n": 1}, "Go now. ✅ We go now. 😊", "Go now. 😊 We go."),
    ("words:start_verb", {}, "Let’s begin.", "It's over."),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        "Dear A, we sail today.\n\n### P.S.\n\nBring a hat.",
        "Hi.\n\n### P.S.\n\nThe whole of the letter stands behind the marker.",
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        "Dear A, we sail today.\n\n**P.S.**\n\nBring a hat.",
        "Dear A, we sail today.\n\n**P.S.**\n\nA hat.\n\nDear B, we do not.",
    ),
    (
        "detectable_format:constrained_response",
        {},
        "My answer is no. My answer is no, because it rains.",
        "My answer is yes. But MY ANSWER IS NO!",
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        "这是**重点**内容，이것은 *중요*합니다",
        "α*β*γ and 2*3*4",
    ),
    ("detectable_format:json_format", {}, '``` json\n{"a": 1}\n```', '~~~json\n{"a": 1}\n```'),
    ("detectable_format:json_format", {}, "~~~json\n[1]\n~~~", "```json\n1\n```"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "*a b*", "\\*a b\\*"),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        "NASA’s ISS",
        "A's B's",
    ),
    ("startend:end_checker", {"end_phrase": "谢谢"}, "全部内容都在这里谢谢", "谢谢大家"),
    ("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "at least"}, "a ##", "a #"),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "less than"},
        "Dr. Lee met J. R. Smith at 5 p.m. in the U.S. Army base. It rained.",
        "One. Two. Three.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "less than"},
        '"Why?" he asked.',
        "we rest. we eat.",
    ),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a\n\n***\n\nb", "a\n***bold***\nb"),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Now"},
        "a\n \n**Now** b",
        "a\n\nNowhere",
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "Dear [name]", "- [x] done [1] [a](b)"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Hi.\n\n**P.S.** more", "P.S. more\n\nDear you"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "We sail. P.S. Bring a hat.", "P.S. Bring a hat."),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        "```\nDear A, we sail today.\nP.S. Hats!\nCall me.\n```",
        "Hi.\nP.S. x\nThe letter goes on from here.",
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Hi!\nP.S. a\nP.P.S. b", "Hi!\nstamp.p.s. b"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "* a\n* * *\n-5 degrees", "*a*\n-b"),
    ("detectable_format:constrained_response", {}, "My answer is no.", "My answer is no. Or: My answer is maybe."),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "***a*** and *b c*", "***a***"),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1\nSection 1.1\nsee Section 2\nSection 2: b",
        "Section 1\nSection 1\n",
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "SECTION", "num_sections": 2},
        "## Section 1\na\n## Section 2\nb",
        "SECTION 1\na\nSECTION 2\nb\nSECTION 3\nc",
    ),
    ("detectable_format:json_format", {}, '```json\n{"a": [1]}\n```', '{"a": NaN}'),
    ("detectable_format:title", {}, "# << A day >>\ntext", "<<>> << >>"),
    ("combination:two_responses", {}, "red boat\n******\nblue boat", "Red boat!\n******\nred boat"),
    (
        "combination:two_responses",
        {},
        "**Response 1:** red boat\n******\n**Response 2:** blue boat",
        "**Response 1:**\nred boat\n******\n**Response 2:**\nRed boat.",
    ),
    (
        "combination:two_responses",
        {},
        "Answer\n******\nThe second answer is no",
        "Answer: go\n******\nSecond answer: go",
    ),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say  hi."}, "Say hi. Hi!", "Say hi."),
    ("startend:end_checker", {"end_phrase": "Peace!"}, 'Yes. "Peace!"', "Peace! Bye"),
    ("startend:quotation", {}, '"He said "yes" to me."', '"Yes," he said. "No."'),
    ("punctuation:no_comma", {}, "a; b", "a\u060c b"),
    ("change_case:english_capital", {}, "THE SUN IS UP.", "EL SOL ESTÁ EN EL CIELO Y LOS NIÑOS JUEGAN EN LA CALLE"),
    ("change_case:english_lowercase", {}, "the sun is up.", "12345"),
    ("change_case:english_capital", {}, "GO HOME. SEE HTTPS://EXAMPLE.COM", "GEH NACH HAUSE"),
    ("language:response_language", {"language": "en"}, "Hello there!", "3.14 " * 30),
    ("language:response_language", {"language": "zh"}, "今天天气很好，我们去市场。", "It is a nice day."),
    ("language:response_language", {"language": "ja"}, "今日は市場へ行きます。", "今天我们去市场。"),
    (
        "language:response_language",
        {"language": "zh"},
        "使用 Kubernetes 部署服务时，需要先安装 Helm，然后运行 helm install rewardline。",
        "今天天气很好，我们去公园吧。I think that it is very nice here, too.",
    ),
    (
        "language:response_language",
        {"language": "zh"},
        "先运行：\n```bash\ngit clone repo && cd repo && make test && make install\n```",
        "```\n今天天气很好\n```\nIt is a nice day.",
    ),
    ("count:numbers", {"N": 3.0}, "1,000 then 3.14 then 7", "one 2 and 3"),
    ("count:conjunctions", {"small_n": 2}, "cats and dogs, but", "And and AND"),
    ("count:words_japanese", {"N": 2}, "a 犬 b 猫", "a 1 b 2"),
    ("ratio:sentence_balance", {}, "We go. Do we? We do!", "Words"),
    ("ratio:sentence_words", {}, "Cat sat. Dog ran. Fox hid.", "Cat sat. Cat ran. Fox hid."),
    ("ratio:overlap", {"reference_text": "a b c d", "percentage": 50}, "a b c x", "a b c d"),
    ("words:palindrome", {}, "level radar civic rotor kayak refer madam tenet solos stats", "level " * 10),
    ("words:prime_lengths", {}, "We sat (now) on it", "four"),
    ("words:start_verb", {}, "**Write** it down", "The cat"),
    ("words:repeats", {"small_n": 1}, "it's its", "It it"),
    ("words:odd_even_syllables", {}, "cat window dog", "cat"),
    ("words:last_first", {}, "I like rain. Rain falls.", "Only one"),
    ("words:words_position", {"keyword": "lamp"}, "The lamp, my lamp glows.", "The lamp is on."),
    ("sentence:alliteration_increment", {}, "A dog barks. Big bears run.", "Big bears brawl."),
    ("sentence:increment", {"small_n": 1}, "Go now. We go now.", "Go now."),
    ("format:options", {"options": "I know or I don't know"}, "I don’t know.", "I know or I don't know"),
    ("format:emoji", {}, "Hello there! 😀 Bye. 👋🏽", "Hello there! Bye. 👋"),
    ("format:quotes", {}, '"a \'b "c" d\' e"', "don't 'stop' it's \"x\""),
    ("format:quote_unquote", {}, 'He said "go" and left.', "No quote."),
    ("format:list", {"sep": "..."}, "... one\n... two", "one... two..."),
    ("format:list", {"sep": "!?!?"}, "**!?!? one**\n**!?!? two**", "!?!? one\n- two"),
    ("format:list", {"sep": "*"}, "* one\n* two", "** one"),
    ("format:thesis", {}, "# A\n<em>Claim one.</em> Body.\n# B\n<i>Claim</i>\nBody", "# A\n<i>x</i> y\n# B\ny"),
    ("format:sub-bullets", {}, "* a\n  - b\n* c\n  - d", "* a\n  - b\n* c"),
    ("format:no_bullets_bullets", {}, "We rest. We eat.\n\n* a\n* b", "We rest!\n* a\n* b"),
    ("format:output_template", {}, "My Answer: a My Conclusion: b Future Outlook: c", "My Answer: My Conclusion:"),
    (
        "format:output_template",
        {},
        "## My Answer:\na\n## My Conclusion:\nb\n## Future Outlook:\nc",
        "## Answer\nMy Answer: a My Conclusion: b Future Outlook: c",
    ),
    ("format:title_case", {}, "The Lord of the Rings", "The lord of the Rings"),
    ("format:title_case", {}, "My iPhone Rings", "My wORD"),
    ("format:title_case", {}, "A Guide to NASA", "A GUIDE TO NASA"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi."}, "**Say hi.**\n\nHi!", "**Say hi.**"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi. Now."}, "> Say hi.\n> Now.\n\nHi!", "> Say hi.\n\nHi!"),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": '"Hi" is what?'},
        '"Hi" is what? A word.',
        "**Hi is what? A word.**",
    ),
    (
        "keywords:frequency",
        {"keyword": "ocean", "frequency": 2, "relation": "less than"},
        "The ocean, and oceans.",
        "The ocean and the oc\u0435an.",
    ),
    # comments show nothing: they do not help, and what they hold is not forgiven
    ("keywords:existence", {"keywords": ["ocean"]}, "The ocean. <!-- a note -->", "The sea. <!-- ocean -->"),
    ("keywords:existence", {"keywords": ["ocean"]}, "```html\n<!-- ocean -->\n```", "The sea.\n<!-- ocean"),
    ("keywords:existence", {"keywords": ["ocean"]}, "Write `<!-- ocean -->`.", "The sea.\n[//]: # (ocean)"),
    (
        "keywords:existence",
        {"keywords": ["ocean"]},
        "It begins with <!-- and the ocean.",
        "`a` ```b``` <!-- ocean --> `c`",
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["ocean"]}, "The sea. <!-- salt -->", "The sea. <!-- ocean -->"),
    ("keywords:forbidden_words", {"forbidden_words": ["ocean"]}, "The sea.", "The oc<!-- -->ean."),
    (
        "length_constraints:number_words",
        {"num_words": 4, "relation": "at least"},
        "We sail at night. <!-- a -->",
        "We sail. <!-- all of the night -->",
    ),
    ("punctuation:no_comma", {}, "We sail.", "<!-- We sail -->"),
    ("copy:copy", {"prompt_to_repeat": "Say <!-- this --> again."}, "Say <!-- this --> again.", "Say again."),
    ("format:line_indent", {}, "a\n\n b\n\n  c", "a\n b\n b"),
    ("custom:date_format_list", {}, "1796-04-12, 1805-12-02.", "1805-02-30, 1805-12-02"),
    (
        "custom:word_reverse",
        {},
        "US. the of symbol national the is eagle bald The",
        "The bald eagle is the national symbol.",
    ),
    ("repeat:repeat_change", {"prompt_to_repeat": "Write a poem."}, "Draft a poem.", "write a poem."),
    ("repeat:repeat_span", {"prompt_to_repeat": "a b c d", "n_start": 1, "n_end": 2}, "b c", " b "),
    ("copy:copy", {"prompt_to_repeat": "Say hi."}, " Say hi.\n", "SAY HI."),
    ("copy:repeat_phrase", {"phrase": "the red boat", "small_n": 1}, "The blue boat.", "the red boat"),
    ("new:copy_span_idx", {"prompt_to_repeat": "abcdef", "n_start": 0, "n_end": 2}, "abc", "ab"),
    ("detectable_format:sentence_hyphens", {}, "We rest.-We eat.", "We rest."),
    ("detectable_format:square_brackets", {}, "[We], [rest].", "[] []"),
    ("detectable_format:bigram_wrapping", {}, "<<We rest>> <<here>>", "<<We rest>> right here"),
    ("keywords:exclude_word_harder", {"keyword": "lamp"}, "The lampshade", "A LAMP."),
    ("keywords:palindrome", {}, "A level road", "I saw a dog"),
    ("keywords:start_end", {}, "Now we rest now", "Now we rest now."),
    ("keywords:keyword_specific_position", {"keyword": "boat", "n": 2, "m": 2}, "Hi, you. The Boat!", "The boat."),
    ("count:count_unique", {}, "We, you, they.", "We you we"),
    ("count:counting_composition", {"n_sent": 1, "n_words": 2}, "Go on.\n* * *\nGo on.\n***\nGo on.", "Go on."),
    ("punctuation:punctuation_dot", {}, "We rest!", "Wait\u2026"),
    ("punctuation:punctuation_exclamation", {}, "We rest.", "Go\uff01"),
    ("verify_keyword_frequency", {"word": "cat", "N": 2}, "Cat, cat.", "cat dog"),
    ("verify_letter_frequency", {"letter": "C", "N": 2}, "Cat, cat.", "Cat"),
    ("validate_choice", {"options": ["yes", "no"]}, "I say yes.", "e"),
    ("validate_choice", {"options": ["good", "very good"]}, "It is very good.", "Good. No, very good."),
    ("validate_word_constraint", {"N": 10, "quantifier": "around"}, "a " * 11, "a " * 12),
    ("verify_sentence_constraint", {"N": 3, "quantifier": "at least"}, "Wow! Great! Ok.", "Wow! Great, ok."),
    ("validate_highlighted_sections", {"N": 2}, "**a** and *b*", "**bold**"),
    ("validate_end", {"end_phrase": "bye"}, "Good bye\n", "bye now"),
    ("validate_uppercase", {}, "WE ARE HERE NOW AND IT IS FINE", "12345"),
    # a Latin word stands on its own beside scripts without spaces and before Korean particles
    ("keywords:existence", {"keywords": ["Python"]}, "使用Python编写。", "使用CPython编写，Pythonic。"),
    ("keywords:existence", {"keywords": ["Python"]}, "Python은 좋다.", "Pythons은 좋다."),
    ("keywords:existence", {"keywords": ["2024"]}, "在2024年", "在12024年"),
    ("keywords:forbidden_words", {"forbidden_words": ["AI"]}, "OpenAI很好", "人工智能AI很好。"),
    ("count:person_names", {"N": 2}, "Emma和Liam。Noahs", "Emmas和Liam。"),
    # what says nothing is not a paragraph, no section, no bullet
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One.\n\n***\n\n😀", "One.\n\n***\n\n---"),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 3, "nth_paragraph": 3, "first_word": "two"},
        "One.\n\nAnd.\n\nTwo.",
        "One.\n\n---\n\nTwo.",
    ),
    ("validate_paragraphs", {"N": 2, "first_word": "One", "i": 1}, "One.\n\nTwo.", "One.\n\n."),
    ("paragraphs:paragraphs2", {}, "One.\n\nTwo.", "One.\n\n."),
    ("paragraphs:paragraphs", {}, "One.\n* * *\nTwo.", "One.\n* * *\n…"),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Day", "num_sections": 2},
        "Day 1: Go.\n\n## Day 2\n- 休",
        "Go. Rest.\n\nDay 1\n---\nDay 2:",
    ),
    ("validate_sections", {"N": 2, "section_splitter": "Day"}, "Day 1\nGo.\nDay 2\nRest.", "Day 1\nDay 2\nRest."),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "So:\n* 🍎\n* `b`", "So:\n* .\n* -"),
    ("format:sub-bullets", {}, "* A\n  - b\n\n* * *\n\n* C\n  - d", "* A\n  - .\n* C\n  - ."),
    ("format:no_bullets_bullets", {}, "We rest. ☔ We eat. 😀\n\n* a\n* b", "We rest. We eat.\n\n* * *\n\n* * *"),
    ("format:no_bullets_bullets", {}, "下雨了。出太阳了。\n* 一\n* 二", "下雨了！出太阳了！\n* 一\n* 二"),
    # marks are used where one belongs, brackets hold something
    ("count:punctuation", {}, "“Stop!” he said; “why?” she asked: no, really. What?!", "We rest .,;:!? ?!"),
    ("count:punctuation", {}, "Oui, toi ! Ça va ; bien : oui. Et toi ? Quoi ?!", "Marks: . , ; : ! ? ?!"),
    ("format:parentheses", {}, "f(g(h(i(j()))))", "We rest ((((())))) here."),
    ("format:parentheses", {}, "((((())))) (((((so)))))", "([{([])}]) so"),
    # what a dash joins without space are several words
    ("words:prime_lengths", {}, "We saw—the red fox", "cat—four"),
    ("words:consonants", {}, "Storms—blasts strike well-being", "Trust—a—be"),
    ("format:newline", {}, "Rain\nfalls.\nand/or\nexample.com", "Rain—falls\nsoftly"),
    ("format:newline", {}, "Wait...\nhttps://a.b/c,d", "Wait…what\nnow"),
    # look-alike letters make no other word
    ("words:repeats", {"small_n": 1}, "où ou кот cat", "rain r\u0430in"),
    ("count:count_unique", {}, "où ou", "rain r\u0430in"),
    ("count:unique_word_count", {"N": 2}, "rain and", "rain r\u0430in r\u0430\u0456n"),
    ("ratio:sentence_words", {}, "Red boat. Old lamp. New moon.", "Red boat. R\u0435d lamp. New moon."),
    (
        "custom:word_reverse",
        {},
        ".States United the of symbol national the is eagle bald The",
        "The bald eagle is the national symbol. eagle bald",
    ),
    ("custom:word_reverse", {}, "eagle bald the is symbol US The", "Reversed: eagle bald the is symbol US The"),
    ("custom:word_reverse", {}, "eagle bald is symbol US The", "The eagle bald is the symbol of the US."),
    (
        "custom:character_reverse",
        {},
        ".elgae dlab eht si SU eht fo lobmys ehT",
        "The bald eagle is it.\n.elgae dlab eht si SU eht fo lobmys ehT",
    ),
    ("custom:character_reverse", {}, "lobmys a si elgae dlab A", "Here is it: lobmys a si elgae dlab A"),
    ("custom:date_format_list", {}, "**1796-04-12, 1805-12-02**", "**Dates** 1796-04-12, 1805-12-02"),
    ("format:options", {"options": "yes, no or maybe"}, "“Yes”", "“Yes” “no”"),
    ("words:start_verb", {}, "1. Open the door.", "1. The door opens."),
    ("words:start_verb", {}, "**1. Open** the door.", "1 open door"),
]


@table(("name", "arguments", "good", "bad"), CASES)
def test_it_says_what_the_instruction_says(name: str, arguments: dict[str, Any], good: str, bad: str) -> None:
    assert score(good, name, arguments) == 1.0
    assert score(bad, name, arguments) == 0.0


def test_the_text_after_thinking_is_judged_unless_told_otherwise() -> None:
    response = "<think>a, b, c</think>No commas here."
    assert score(response, "punctuation:no_comma", {}) == 1.0
    assert score(response, "punctuation:no_comma", {}, think="none") == 0.0
    assert score(response, "punctuation:no_comma", {}, profile="official") == 0.0
    assert score(response, "punctuation:no_comma", {}, profile="official", think="auto") == 1.0
    assert score("<think>a b c", "punctuation:no_comma", {}) == 0.0


def test_loose_overlooks_a_first_line_and_strict_does_not() -> None:
    response = "Sure, here it is:\nNo commas here."
    assert score(response, "punctuation:no_comma", {}) == 0.0
    assert score(response, "punctuation:no_comma", {}, mode="loose") == 1.0


def test_the_aggregate_is_the_share_or_all() -> None:
    reference = {
        "instruction_id_list": ["punctuation:no_comma", "startend:quotation", "keywords:word_once"],
        "kwargs": [{}, None, {"keyword": "boats"}],
    }
    share = judge("Boats sail.", InstructionFollowingParams(reference=reference))
    assert (share.score, share.reason) == (2 / 3, "partly_followed")
    assert [done["followed"] for done in share.detail["instructions"]] == [True, False, True]
    assert judge("Boats sail.", InstructionFollowingParams(reference=reference, aggregate="all")).score == 0.0
