package lexicon

// thesaurus groups everyday words by what they are about. A line "= money" begins an
// area; each further line is a group of that area: its name, then its words. Words
// joined by "_" are a phrase. A word may stand in several groups. Forms of a word are
// found by their stem, so that one form each is enough.
const thesaurus = `
= money
account: account bank banking savings checking deposit withdraw withdrawal overdraft teller branch iban credit_union wells_fargo chase barclays hsbc citibank
balance: balance funds money_left available_funds
transfer: transfer wire remit remittance send_money move_money zelle venmo paypal swift
bill: bill pay payment invoice due owe payable amount_due minimum_payment past_due arrears statement
pay: pay payment paid payer payee autopay settle standing_order direct_debit
cheque: check_book cheque checkbook chequebook checks
pin: pin pin_code pin_number passcode
banknumber: routing_number routing account_number sort_code
interest: interest interest_rate yield compound savings_rate
blocked: block freeze frozen hold unfreeze unblock suspend locked_out restricted deactivate
fraud: fraud fraudulent scam scammer suspicious unauthorized stolen identity_theft dubious phishing dispute chargeback
transaction: transaction purchase expense charge spend spending spent expenditure bought
credit: credit_card credit card visa mastercard amex american_express discover_card debit_card plastic
limit: limit credit_limit maximum max cap ceiling credit_line line_of_credit
apr: apr annual_percentage percentage_rate
creditscore: credit_score credit_rating credit_history fico credit_report
reward: reward points cashback cash_back loyalty miles bonus_points frequent_flyer perk
expiry: expire expiry expiration valid_until good_until
declined: decline reject denied refused not_work not_go_through
fee: fee surcharge commission penalty service_charge
cash: cash coin banknote dollar euro pound money bucks cent atm cashpoint
loan: loan lend borrow mortgage lender refinance debt collateral installment
investing: stock share invest investment portfolio bond fund broker dividend nasdaq etf crypto bitcoin shares ticker
exchange: exchange_rate currency peso yen rupee yuan euro exchange foreign_currency conversion_rate
tax: tax irs vat deduction w2 w-2 1099 tax_return withholding refund_tax taxable filing federal_tax state_tax
budget: budget cost afford saving frugal forecast
invoice: invoice billing receipt purchase_order remittance credit_note accounts_payable accounts_receivable
price: price cost expensive cheap quote rate discount deal
= employment
job: job work career employer employee position role workplace office coworker colleague
hire: hire recruit recruitment interview applicant candidate resume cv vacancy onboarding job_offer referral probation
leave: vacation pto leave day_off days_off time_off holiday sick_day sick_leave paid_leave maternity paternity parental_leave absence furlough sabbatical annual_leave
wage: salary wage pay paycheck payday payroll payslip pay_slip income earn earnings bonus overtime raise compensation paystub stipend direct_deposit pay_stub
benefits: benefit insurance health_plan health_insurance dental vision coverage healthcare_plan enrollment perks
retirement: 401k 401_k retirement pension rollover ira retire
boss: boss manager supervisor lead director superior management team_lead
meeting: meeting conference_room meeting_room agenda minutes appointment standup call_conference attendee room_available
publicholiday: bank_holiday public_holiday holiday christmas thanksgiving easter labor_day memorial_day new_year independence_day
quit: resign quit resignation layoff fire dismissal severance notice_period terminate
schedule: shift roster rota timesheet schedule hours timecard clock_in
training: training workshop course certification onboarding mentor
conduct: harassment grievance complaint discrimination misconduct conduct whistleblower
policy: policy handbook guideline rule compliance procedure
performance: appraisal performance_review promotion evaluation feedback
= food
cook: cook cooking bake boil fry roast grill simmer steam oven stove prepare microwave saute broil barbecue cook_time
recipe: recipe dish cookbook homemade how_to_make
ingredient: ingredient spice flour sugar salt pepper butter egg yeast oil_olive garlic onion baking_soda vanilla sauce vinegar herb cinnamon substitute
substitute: substitute swap replace instead replacement alternative
nutrition: calorie nutrition protein carb fat fiber vitamin diet healthy sodium cholesterol nutritional gluten sugar_content vegan vegetarian
meal: meal breakfast lunch dinner supper brunch snack dessert appetizer eat food cuisine
foods: cereal donut fries pumpkin wings ramen dumpling tuna hamburger casserole quiche pasta rice chicken beef pork fish salad soup pizza burger sandwich bread cheese taco steak potato tomato lasagna sushi curry noodle bean shrimp salmon turkey bacon sausage omelet pancake waffle cake cookie pie chili casserole burrito enchilada spaghetti meatloaf lamb tofu hummus
fruit: apple banana orange grape strawberry lemon lime cherry peach pear mango avocado watermelon pineapple berry raisin
vegetable: carrot broccoli lettuce spinach cabbage cucumber pea corn mushroom celery zucchini squash
dairy: milk yogurt cream butter cheese
drinks: coffee tea juice beer wine soda water cocktail whiskey smoothie espresso latte
restaurant: restaurant diner cafe bistro steakhouse pizzeria bar pub eatery takeout grill_restaurant buffet food_truck chipotle mcdonald olive_garden denny ihop outback wendy burger_king taco_bell
reservation: reservation reserve table book_table table_for party_of
review: review rating rate star recommend feedback
spoiled: spoil bad rotten mold stale expire fridge leftover refrigerator freezer good_for last go_bad gone_bad shelf_life safe_to_eat
wait: wait busy crowded queue wait_time
cuisine: italian mexican chinese thai indian japanese korean greek vietnamese mediterranean
suggestion: suggest suggestion recommend recommendation idea
= household
smarthome: smart_home light lamp thermostat doorbell smart_plug bulb dim turn_off turn_on lights_off lights_on air_conditioning heater lock unlock vacuum blinds
shoppinglist: shopping_list grocery_list groceries grocery shopping list
todo: to_do todo task chore errand to_do_list todo_list
reminder: remind reminder remember forget don't_forget
order: order buy purchase reorder need_more run_out restock
orderstatus: order_status package parcel delivery track arrive shipped shipment where_is_my_order
music: music song play playlist album tune track artist band listen radio spotify singer lyrics jazz hip_hop rap rock_music pandora next_song skip shuffle
calendar: calendar schedule event appointment agenda my_day planned
furniture: chair table_furniture desk_furniture sofa couch bed mattress wardrobe shelf drawer cabinet
cleaning: clean cleaning wash laundry detergent stain vacuum mop dust soap
room: kitchen_room bathroom bedroom living_room garage basement attic door window roof wall floor ceiling
repair: leak plumber plumbing pipe toilet sink faucet tap drain boiler heating furnace electrician maintenance
housing: rent tenant landlord lease apartment house flat deposit_rent eviction sublet property realtor
garden: garden lawn plant flower tree soil seed weed mower fertilizer
pests: pest mouse_pest ants cockroach termite rats bedbug exterminator
utilities: electricity gas_supply water_supply meter power_outage sewage trash garbage recycling waste bin
= vehicle
car: car vehicle auto automobile truck van suv motorcycle sedan toyota honda ford chevy nissan tesla kia bmw jeep
fuel: gas gasoline petrol fuel diesel octane tank refuel gas_station fill_up
mileage: mpg mileage miles_per_gallon fuel_economy fuel_efficiency odometer gas_mileage
engineoil: oil oil_change motor_oil lubricant
tyre: tire tyre tire_pressure psi wheel flat_tire inflate tread air_pressure
battery: jump_start jumpstart car_battery dead_battery jumper_cables jumper
carservice: mechanic tune_up maintenance car_service servicing inspection garage brakes checkup
carparts: engine brake clutch wiper windshield bumper headlight transmission exhaust radiator muffler gearbox
traffic: traffic congestion rush_hour jam accident traffic_jam gridlock
directions: direction route navigate navigation way_to get_to map shortest_route how_to_get gps
distance: distance far mile kilometer how_far how_long_drive closest nearest nearby near
location: location where_am_i locate current_location my_position
commute: commute drive driving bus subway train tram metro public_transport commuter bike_commute freeway highway road
ride: uber lyft taxi cab ride carpool ride_share
parking: park parking_lot parking_space valet parking
license: driver_license driving_licence registration dmv license_plate vin
= travel
flight: flight fly plane airplane airline airport boarding gate layover delta_airlines united_airlines southwest_airlines jetblue american_airlines lufthansa departure takeoff land depart
hotel: hotel motel hostel airbnb lodging accommodation resort inn suite bed_and_breakfast room_night
luggage: luggage baggage suitcase bag lost_luggage carry_on carryon checked_bag overhead
carrental: rental car_rental rent_a_car hire_car rental_car rent_car
health_abroad: vaccine vaccination shots immunization inoculation malaria
visa: visa passport embassy consulate customs immigration border international_visa
travel_alert: travel_alert travel_advisory travel_warning safe_to_travel safety_travel
plug: plug socket outlet adapter voltage converter plug_converter
translation: translate translation say_in how_do_you_say how_do_i_say word_for spanish french german italian_language chinese_language japanese_language interpreter
language: language spanish french german russian arabic mandarin portuguese english hindi korean_language latin
timezone: timezone time_zone pacific_time eastern_time gmt utc
trip: trip travel vacation tour tourist tourism itinerary visit sightseeing cruise abroad holiday_trip journey attraction destination overseas things_to_do backpacking
booking: book booking reserve ticket itinerary round_trip one_way fare nonstop
travelnotice: travel_notice travelling_to traveling_to going_to
country: france germany italy spain england britain uk canada mexico brazil argentina chile peru china japan india russia africa europe asia australia egypt kenya greece turkey ireland scotland portugal sweden norway denmark poland netherlands switzerland austria thailand vietnam korea malaysia indonesia singapore philippines israel iran iraq morocco nigeria cuba jamaica costa_rica colombia iceland new_zealand south_africa hawaii ukraine taiwan pakistan
city: paris london rome madrid berlin tokyo beijing moscow sydney dublin amsterdam barcelona vienna athens cairo dubai toronto montreal vancouver new_york los_angeles chicago boston seattle houston dallas denver phoenix miami atlanta orlando las_vegas vegas san_francisco san_diego philadelphia detroit portland austin hong_kong mumbai delhi shanghai milan florence venice munich honolulu nashville
= tools
clock: time clock what_time current_time hour o'clock oclock
date: date day today what_day month year day_of_the_week
timer: timer countdown stopwatch set_timer
alarm: alarm wake_me wake_up alarm_clock snooze
weather: weather rain snow temperature forecast sunny cloudy umbrella storm humid wind hot_outside cold_outside degree raining hail outside fog jacket
calculator: half quarter_of calculator calculate math sum multiply divide square_root plus minus times percent addition subtract arithmetic equals cube_root fraction divided product_of
measurement: measurement convert conversion ounce cup tablespoon teaspoon pint quart gallon liter litre inch foot feet meter centimeter kilogram gram yard celsius fahrenheit metric unit pounds kilometers millimeter
definition: definition define mean meaning dictionary word synonym vocabulary definition_of what_is_meant
spelling: spell spelling letter how_is_spelled how_do_you_spell
coin: coin flip heads tails coin_toss flip_a_coin toss
dice: dice die roll roll_dice
random: random number_between pick_a_number random_number
findphone: find_phone lost_phone find_my_phone phone_lost where_is_my_phone misplaced
call: call dial phone ring telephone make_a_call redial hang_up
text: text sms text_message message texting send_message send_a_text imessage whatsapp
sharelocation: share_location gps_coordinates share_my_location my_location_with
= chat
greeting: hello hi hey good_morning good_afternoon good_evening greetings howdy how_are_you what's_up whats_up how's_it_going how_have_you_been nice_to_meet how_is_it_going
goodbye: goodbye bye see_you farewell later good_night so_long take_care have_a_good nice_talking talk_to_you_later
thanks: thank thank_you thanks appreciate grateful gratitude cheers
joke: joke funny laugh humor humour make_me_laugh comedy pun hilarious
funfact: fun_fact trivia fact interesting something_interesting
maker: made_you created_you built_you invented_you programmed_you developed_you your_creator your_maker designed_you creator programmer who_made who_created your_developer
yourname: your_name call_you are_you_called you_go_by
yourage: old_are_you your_age birthday your_birthday age when_were_you_born
bot: ai bot robot chatbot human real_person are_you_real ai machine artificial_intelligence computer_person a_person living_person
origin: where_are_you_from born your_hometown where_do_you_live where_were_you raised come_from grow_up
hobby: hobby hobbies pastime do_for_fun free_time spare_time
capability: what_can_you_do can_you_do ask_you help_me_with what_can_i_ask abilities capability able_to_do
lifemeaning: meaning_of_life purpose_of_life why_are_we_here why_do_we_exist existence life_mean meaning_life
pets: pet dog cat puppy kitten hamster goldfish
youremployer: who_do_you_work you_work_for your_boss employed_by your_employer
= control
agree: yes yeah yep yup correct affirmative true exactly definitely absolutely agree sounds_good right_on certainly indeed of_course sure that's_right positive
disagree: no nope nah false negative incorrect wrong disagree not_true untrue never absolutely_not
unsure: maybe perhaps possibly not_sure don't_know uncertain unsure no_idea might not_certain could_be undecided
cancel: cancel stop abort never_mind nevermind undo quit_it end_that forget_it
repeat: repeat say_again again say_that_again one_more_time come_again didn't_hear pardon
speed: speed slower faster slow_down speed_up talk_faster talk_slower speak_slower speak_faster pace rate_of_speech slowly quickly
volume: volume louder quieter turn_up turn_down mute unmute loud too_loud quiet decibel turn_it_up turn_it_down
accent: accent british_accent voice male_voice female_voice dialect
whisper: whisper softly quiet_voice low_voice
username: my_name call_me user_name name_is i_am_called nickname
ainame: ai_name your_new_name change_your_name rename call_you name_you
reset: reset factory factory_settings restore default default_settings wipe
sync: sync synchronize pair connect link unsync desync disconnect pairing bluetooth unpair unlink
clarify: what_do_you_mean clarify explain_that confused understand elaborate
settings: setting preference option configuration configure mode
= computing
computer: computer laptop desktop pc macbook notebook workstation chromebook tablet ipad mac
screen: screen monitor display projector resolution blank_screen dual_monitor
peripheral: keyboard mouse webcam headset usb dock docking_station charger cable speaker microphone hdmi adapter
printer: printer print scanner scan toner ink cartridge paper_jam copier photocopier
phone: phone smartphone iphone android cell handset sim mobile samsung galaxy
network: wifi wi-fi internet network router modem ethernet lan connection broadband hotspot vpn dns bandwidth firewall offline proxy
login: login log_in sign_in signin sign_on logon log_on authentication authenticate two_factor 2fa mfa otp sso locked_out logged_out verification_code
password: password passphrase passcode credentials forgot_password
useraccount: account username profile user_account permission access role admin privilege
email: email e-mail mail inbox outlook gmail mailbox spam attachment mailing_list newsletter signature_email
software: software app application program install uninstall update upgrade version excel word_document powerpoint office_365 browser chrome firefox windows macos linux license_key teams zoom slack
fault: crash error bug freeze glitch broken not_work fail hang slow stuck blue_screen reboot restart malfunction outage
files: file folder backup drive document pdf download upload share_drive storage cloud sync_file dropbox onedrive sharepoint disk spreadsheet
security: virus malware ransomware antivirus hack hacked phishing breach security encryption spyware
code: code developer api deploy database server repository git script programming endpoint sdk webhook json query
website: website web page site url link domain hosting
tv: tv television remote channel streaming netflix hulu cable_tv station
battery_device: battery charge charging power_cord
= commerce
shipping: ship shipping delivery deliver courier package parcel tracking track dispatch freight fedex ups usps postage arrive shipment late_delivery
returns: return refund exchange money_back send_back rma return_label reimbursement
warranty: warranty guarantee repair defect defective damaged broken faulty
store: store shop retail outlet_store mall branch_store opening_hours checkout cashier supermarket aisle walmart target amazon costco
product: product item size color colour model stock in_stock out_of_stock sold_out availability catalog sku inventory restock
clothing: shirt shoes dress pants jeans jacket coat skirt socks hat clothing clothes sweater size_clothes fitting
discount: discount coupon promo promo_code voucher sale gift_card offer deal
order_shop: order purchase checkout cart basket buy
subscription: subscription subscribe membership unsubscribe renew renewal plan cancel_subscription trial
customer: customer client support customer_service complaint representative
supply: supplier vendor procurement warehouse logistics wholesale pallet
sales: sales lead prospect demo pricing crm quote proposal
marketing: marketing advertising advertisement campaign brand seo social_media promotion press_release newsletter
jewelry: ring_jewelry necklace watch bracelet earrings gold silver diamond
contract: contract legal lawyer attorney lawsuit court sue nda agreement clause liability copyright trademark patent
insurance: insurance claim premium deductible policyholder coverage insured insurer underwriting copay
= health
doctor: doctor physician nurse hospital clinic appointment_doctor surgeon dentist therapist pediatrician specialist
symptom: pain headache fever cough cold flu nausea rash sore dizzy symptom sick ill allergy swollen vomiting ache itch
medicine: medicine medication drug prescription pill dose tablet_medicine antibiotic pharmacy refill aspirin ibuprofen vaccine insulin
disease: disease cancer diabetes asthma infection covid virus heart_attack stroke arthritis depression anxiety
fitness: exercise workout gym fitness yoga running weight muscle jog treadmill cardio
body: arm leg head heart stomach back skin eye ear tooth teeth knee hand foot blood bone brain
childcare: baby toddler pregnant pregnancy infant diaper child kid daycare babysitter
beauty: hair makeup cosmetic shampoo nail perfume haircut salon
vet: veterinarian vet kennel leash
mind: personality psychology mood stress mental feeling emotion
sleep: sleep insomnia nap bedtime
= education
school: school college university campus classroom student teacher professor classes lecture semester kindergarten ucla harvard alumni dorm
study: study homework exam test essay assignment grade course lesson curriculum quiz thesis tutor
enrol: enroll admission tuition scholarship degree diploma transcript graduation major
library: library librarian book_loan novel author poem
= knowledge
sport: football soccer baseball basketball hockey tennis golf cricket rugby nfl nba mlb team league player coach championship super_bowl olympics match stadium pitcher score_game tournament playoffs referee season_sports boxing wrestling
film: movie film cinema actor actress director oscar starring sequel box_office hollywood series episode tv_show disney character cartoon superhero
game: video_game gaming nintendo playstation xbox chess console level_game minecraft fortnite poker
history: history war president king queen century ancient empire medieval revolution civil_war historical founded invented pyramid lincoln washington napoleon
science: physics chemistry biology atom molecule evolution gravity relativity species theory scientist experiment dna element hypothesis photosynthesis
space: planet star moon sun galaxy solar_system nasa astronaut rocket mars jupiter orbit universe
nature: animal bird fish_animal lion tiger bear wolf whale elephant insect forest ocean river mountain lake species mammal predator spider snake horse cow
geography: capital country continent population border largest_country state province island capital_of
politics: election vote senator congress government governor president parliament democrat republican politician law policy_public mayor
religion: church god bible prayer religion christian muslim jewish buddhist temple mosque
art: art painting painter museum gallery sculpture artist_painter drawing photography architect
celebrity: famous celebrity star_famous singer_famous born died biography net_worth
mathematics: equation algebra geometry circle triangle formula polynomial calculus
news: news headline article newspaper journalist current_events
economy: economy inflation gdp trade tariff recession
instrument: guitar piano violin drum saxophone trumpet orchestra scale concert melody
literature: novel author poet poetry shakespeare fiction literature write_book
seasons: winter summer autumn spring_season fall_season
airplanes: aircraft jet helicopter pilot
manufacture: factory plastic steel manufacture made_of
`

// names are words that are no topic by themselves: names of people, which any post
// may hold, and which say nothing of what it is about.
const names = `james john robert michael william david richard joseph thomas charles mary patricia jennifer linda elizabeth barbara susan jessica sarah karen
nancy lisa betty sandra ashley emily donna michelle carol amanda melissa laura rebecca sharon cynthia amy angela anna emma olivia sophia mia alice julia kate
bob bill tom jim mike dave steve joe jack sam ben dan matt chris alex nick tony mark paul peter george henry edward brian kevin jason jeff ryan gary eric scott frank ray greg josh larry jerry dennis
walter patrick adam nathan kyle carl arthur roger keith mom mother dad father wife husband brother sister son daughter aunt uncle grandma grandpa friend`
